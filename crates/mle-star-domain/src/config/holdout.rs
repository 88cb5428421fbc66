//! The key `holdout`: two words or a share.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// The values of `holdout`.
pub(super) const VALUES: &str = "auto, off or a share from 0.05 to 0.4";

/// The part of the labelled rows that the program keeps from all scripts until the final choice: `auto`, `off`, or a
/// share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HoldoutShare {
    /// 15 %, where the data allows it.
    Auto,
    /// None.
    Off,
    /// This share, from 0.05 to 0.4.
    Share(f64),
}

impl HoldoutShare {
    /// Whether a share is one that can be held out.
    pub(super) fn is_in_range(self) -> bool {
        !matches!(self, Self::Share(share) if !(0.05..=0.4).contains(&share))
    }
}

impl JsonSchema for HoldoutShare {
    fn schema_name() -> Cow<'static, str> {
        "HoldoutShare".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"anyOf": [{"enum": ["auto", "off"]}, {"type": "number", "minimum": 0.05, "maximum": 0.4}]})
    }
}

impl Serialize for HoldoutShare {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Off => serializer.serialize_str("off"),
            Self::Share(share) => serializer.serialize_f64(*share),
        }
    }
}

impl<'de> Deserialize<'de> for HoldoutShare {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || D::Error::custom(format_args!("holdout: expected {VALUES}"));
        match Value::deserialize(deserializer)? {
            Value::String(word) if word == "auto" => Ok(Self::Auto),
            Value::String(word) if word == "off" => Ok(Self::Off),
            Value::Number(share) => share.as_f64().map(Self::Share).ok_or_else(wrong),
            _ => Err(wrong()),
        }
    }
}
