//! Cells of Arrow arrays as text.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use jiff::tz::TimeZone;

use crate::canonical::{
    MOST_EXACT, Precision, digits_of, is_midnight, push_date, push_decimal, push_duration, push_f32,
    push_f64, push_time, push_time_of_day, push_whole, push_zoned,
};
use crate::shape::Kind;

type Half = <Float16Type as ArrowPrimitiveType>::Native;

/// How the cells of a column are written: what its values have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Style {
    /// Whether floating-point numbers are written as whole numbers. They are where all of them are whole and some are
    /// missing: pandas holds whole numbers with gaps so.
    is_whole: bool,
    precision: Precision,
    /// The time zone in which points in time are written.
    zone: Option<TimeZone>,
}

/// What a pass over a column of numbers or times finds.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    has_gap: bool,
    is_whole: bool,
    is_date: bool,
    digits: usize,
    values: u64,
    /// Whether a point in time is outside of what nanoseconds from 1970 can say: before 1677 or after 2262.
    pub(crate) is_far: bool,
}

/// A column of one batch.
pub(crate) struct Cells {
    array: ArrayRef,
    /// For a dictionary, the position in `array` for each row.
    keys: Option<(ArrayRef, Vec<usize>)>,
}

/// What a type is; the name of a nested one, in words for people.
pub(crate) fn kind(data_type: &DataType) -> Result<Kind, &'static str> {
    Ok(match data_type {
        DataType::Null => Kind::Untyped,
        DataType::Boolean => Kind::Boolean,
        data_type if data_type.is_integer() => Kind::Integer,
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale)
            if *scale <= 0 =>
        {
            Kind::Integer
        }
        data_type if data_type.is_numeric() => Kind::Number,
        DataType::Date32 | DataType::Date64 => Kind::Date,
        DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => Kind::Time,
        DataType::Duration(_) => Kind::Duration,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::Text,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
            Kind::Text
        }
        DataType::Dictionary(_, value) if !matches!(**value, DataType::Dictionary(..)) => kind(value)?,
        DataType::List(_)
        | DataType::LargeList(_)
        | DataType::ListView(_)
        | DataType::LargeListView(_)
        | DataType::FixedSizeList(..) => return Err("lists"),
        DataType::Struct(_) => return Err("structures"),
        DataType::Map(..) => return Err("maps"),
        DataType::Union(..) => return Err("values of several types"),
        DataType::Interval(_) => return Err("calendar intervals"),
        _ => return Err("values of a type that is no cell of a table"),
    })
}

/// Whether a pass over the values decides how a column is written.
pub(crate) fn needs_pass(data_type: &DataType) -> bool {
    match data_type {
        DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Timestamp(..) => true,
        DataType::Dictionary(_, value) => needs_pass(value),
        _ => false,
    }
}

/// The name of the time zone of a type.
pub(crate) fn zone_name(data_type: &DataType) -> Option<&str> {
    match data_type {
        DataType::Timestamp(_, zone) => zone.as_deref(),
        DataType::Dictionary(_, value) => zone_name(value),
        _ => None,
    }
}

impl Default for Seen {
    fn default() -> Self {
        Self { has_gap: false, is_whole: true, is_date: true, digits: 0, values: 0, is_far: false }
    }
}

impl Seen {
    /// Adds the cells of a batch.
    pub(crate) fn add(&mut self, cells: &Cells) {
        for row in 0..cells.len() {
            let Some((array, at)) = cells.at(row) else {
                self.has_gap = true;
                continue;
            };
            if let Some(nanos) = timestamp(array, at) {
                self.values += 1;
                self.is_date &= is_midnight(nanos);
                self.digits = self.digits.max(digits_of(nanos));
                self.is_far |= i64::try_from(nanos).is_err();
            } else if let Some(number) = float(array, at) {
                let is_gap = number.is_nan();
                self.has_gap |= is_gap;
                self.values += u64::from(!is_gap);
                self.is_whole &= is_gap || (number.fract() == 0.0 && number.abs() < MOST_EXACT);
            }
        }
    }

    /// How the column is written.
    pub(crate) fn style(&self, zone: Option<TimeZone>) -> Style {
        Style {
            is_whole: self.is_whole && self.has_gap && self.values > 0,
            precision: Precision {
                is_date: self.is_date && self.values > 0 && zone.is_none(),
                digits: self.digits,
            },
            zone,
        }
    }
}

impl Cells {
    /// The cells of an array.
    pub(crate) fn new(array: &ArrayRef) -> Self {
        let keys = match array.as_any_dictionary_opt() {
            Some(dictionary) if !dictionary.values().is_empty() => {
                Some((dictionary.values().clone(), dictionary.normalized_keys()))
            }
            _ => None,
        };
        Self { array: array.clone(), keys }
    }

    fn len(&self) -> usize {
        self.array.len()
    }

    /// The array and the position in it that hold the value of a row; `None` if it is missing.
    fn at(&self, row: usize) -> Option<(&ArrayRef, usize)> {
        if self.array.is_null(row) || *self.array.data_type() == DataType::Null {
            return None;
        }
        match &self.keys {
            Some((values, keys)) => {
                keys.get(row).map(|at| (values, *at)).filter(|(values, at)| !values.is_null(*at))
            }
            None => Some((&self.array, row)),
        }
    }

    /// Replaces `into` by the text of a row's cell.
    ///
    /// # Errors
    /// There is no text for it, in words for people.
    pub(crate) fn write(&self, row: usize, style: &Style, into: &mut String) -> Result<(), &'static str> {
        into.clear();
        let Some((array, at)) = self.at(row) else { return Ok(()) };
        const NO_TIME: &str = "a time before the year 1 or after the year 9999";
        if let Some(nanos) = timestamp(array, at) {
            return match &style.zone {
                Some(zone) => push_zoned(nanos, zone, style.precision, into),
                None => push_time(nanos, style.precision, into),
            }
            .ok_or(NO_TIME);
        }
        match array.data_type() {
            DataType::Float64 | DataType::Float32 | DataType::Float16 => push_float(array, at, style, into),
            DataType::Date32 => {
                return push_date(value::<Date32Type>(array, at).into(), into).ok_or(NO_TIME);
            }
            DataType::Date64 => {
                let days = value::<Date64Type>(array, at).div_euclid(86_400_000);
                return push_date(days, into).ok_or(NO_TIME);
            }
            DataType::Boolean => into.push_str(if array.as_boolean().value(at) { "True" } else { "False" }),
            DataType::Utf8 => into.push_str(array.as_string::<i32>().value(at)),
            DataType::LargeUtf8 => into.push_str(array.as_string::<i64>().value(at)),
            DataType::Utf8View => into.push_str(array.as_string_view().value(at)),
            DataType::Binary => return push_bytes(array.as_binary::<i32>().value(at), into),
            DataType::LargeBinary => return push_bytes(array.as_binary::<i64>().value(at), into),
            DataType::BinaryView => return push_bytes(array.as_binary_view().value(at), into),
            DataType::FixedSizeBinary(_) => return push_bytes(array.as_fixed_size_binary().value(at), into),
            DataType::Time32(_) | DataType::Time64(_) => push_time_of_day(time_of_day(array, at), into),
            DataType::Duration(unit) => push_duration(duration(array, at, *unit), into),
            _ => return push_integer(array, at, into),
        }
        Ok(())
    }
}

fn value<T: ArrowPrimitiveType>(array: &ArrayRef, at: usize) -> T::Native {
    array.as_primitive::<T>().value(at)
}

/// The number of a floating-point cell.
fn float(array: &ArrayRef, at: usize) -> Option<f64> {
    match array.data_type() {
        DataType::Float64 => Some(value::<Float64Type>(array, at)),
        DataType::Float32 => Some(value::<Float32Type>(array, at).into()),
        DataType::Float16 => Some(value::<Float16Type>(array, at).to_f64()),
        _ => None,
    }
}

fn push_float(array: &ArrayRef, at: usize, style: &Style, into: &mut String) {
    let number = float(array, at).unwrap_or(f64::NAN);
    match array.data_type() {
        _ if style.is_whole && !number.is_nan() => push_whole(number, into),
        DataType::Float32 => push_f32(value::<Float32Type>(array, at), into),
        DataType::Float16 => push_f16(value::<Float16Type>(array, at), into),
        _ => push_f64(number, into),
    }
}

/// Adds the shortest decimal number that is the same one in half precision.
fn push_f16(number: Half, into: &mut String) {
    let wide = number.to_f64();
    let mut short = (0..5).filter_map(|digits| format!("{wide:.digits$e}").parse::<f64>().ok());
    let short = short.find(|short| Half::from_f64(*short) == number);
    push_f64(short.unwrap_or(wide), into);
}

/// The nanoseconds from 1970 of a point in time.
fn timestamp(array: &ArrayRef, at: usize) -> Option<i128> {
    let DataType::Timestamp(unit, _) = array.data_type() else { return None };
    let count = match unit {
        TimeUnit::Second => value::<TimestampSecondType>(array, at),
        TimeUnit::Millisecond => value::<TimestampMillisecondType>(array, at),
        TimeUnit::Microsecond => value::<TimestampMicrosecondType>(array, at),
        TimeUnit::Nanosecond => value::<TimestampNanosecondType>(array, at),
    };
    Some(i128::from(count) * i128::from(nanos(*unit)))
}

fn duration(array: &ArrayRef, at: usize, unit: TimeUnit) -> i128 {
    let count = match unit {
        TimeUnit::Second => value::<DurationSecondType>(array, at),
        TimeUnit::Millisecond => value::<DurationMillisecondType>(array, at),
        TimeUnit::Microsecond => value::<DurationMicrosecondType>(array, at),
        TimeUnit::Nanosecond => value::<DurationNanosecondType>(array, at),
    };
    i128::from(count) * i128::from(nanos(unit))
}

/// The nanoseconds from midnight.
fn time_of_day(array: &ArrayRef, at: usize) -> i64 {
    let (count, unit) = match array.data_type() {
        DataType::Time32(TimeUnit::Second) => (value::<Time32SecondType>(array, at).into(), TimeUnit::Second),
        DataType::Time32(_) => (value::<Time32MillisecondType>(array, at).into(), TimeUnit::Millisecond),
        DataType::Time64(TimeUnit::Microsecond) => {
            (value::<Time64MicrosecondType>(array, at), TimeUnit::Microsecond)
        }
        _ => (value::<Time64NanosecondType>(array, at), TimeUnit::Nanosecond),
    };
    count.saturating_mul(nanos(unit))
}

fn nanos(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1_000_000_000,
        TimeUnit::Millisecond => 1_000_000,
        TimeUnit::Microsecond => 1_000,
        TimeUnit::Nanosecond => 1,
    }
}

fn push_bytes(bytes: &[u8], into: &mut String) -> Result<(), &'static str> {
    into.push_str(std::str::from_utf8(bytes).map_err(|_| "bytes that are no text")?);
    Ok(())
}

fn push_integer(array: &ArrayRef, at: usize, into: &mut String) -> Result<(), &'static str> {
    macro_rules! push {
        ($type:ty) => {
            _ = write!(into, "{}", value::<$type>(array, at))
        };
    }
    match array.data_type() {
        DataType::Int8 => push!(Int8Type),
        DataType::Int16 => push!(Int16Type),
        DataType::Int32 => push!(Int32Type),
        DataType::Int64 => push!(Int64Type),
        DataType::UInt8 => push!(UInt8Type),
        DataType::UInt16 => push!(UInt16Type),
        DataType::UInt32 => push!(UInt32Type),
        DataType::UInt64 => push!(UInt64Type),
        DataType::Decimal32(_, scale) => {
            push_decimal(&value::<Decimal32Type>(array, at).to_string(), *scale, into);
        }
        DataType::Decimal64(_, scale) => {
            push_decimal(&value::<Decimal64Type>(array, at).to_string(), *scale, into);
        }
        DataType::Decimal128(_, scale) => {
            push_decimal(&value::<Decimal128Type>(array, at).to_string(), *scale, into);
        }
        DataType::Decimal256(_, scale) => {
            push_decimal(&value::<Decimal256Type>(array, at).to_string(), *scale, into);
        }
        _ => return Err("a value that is no cell of a table"),
    }
    Ok(())
}
