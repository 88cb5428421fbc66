//! Sizes of images and lengths of sounds, from the beginnings of a few files.

use std::io::{self, BufRead, Seek, SeekFrom};

use super::words;

/// Parts of a file that are skipped at most.
const PARTS: usize = 200;

const IMAGES: [&str; 8] = ["png", "jpg", "jpeg", "gif", "bmp", "webp", "tif", "tiff"];

/// A file, or the beginning of one.
pub(super) trait Content: BufRead + Seek {}
impl<T: BufRead + Seek> Content for T {}

/// What a few files with this ending hold; `None` for other files, and if none of them can be read.
pub(super) fn describe<F: Content>(ending: &str, files: impl Iterator<Item = F>) -> Option<String> {
    let one = |mut file: F| match ending {
        "wav" => wav(&mut file).ok().flatten(),
        "aif" | "aiff" | "aifc" => aiff(&mut file).ok().flatten(),
        ending if IMAGES.contains(&ending) => image(ending, &mut file),
        _ => None,
    };
    let mut found: Vec<String> = Vec::new();
    let mut read = 0;
    for text in files.filter_map(one) {
        read += 1;
        if !found.contains(&text) {
            found.push(text);
        }
    }
    (read > 0).then(|| format!("{read} of them: {}", found.join(", ")))
}

/// Width, height and colours of an image.
fn image(ending: &str, file: &mut impl Content) -> Option<String> {
    let size = imagesize::reader_size(&mut *file).ok()?;
    let colours = match ending {
        "png" => png_colours(file).ok().flatten(),
        "jpg" | "jpeg" => jpeg_colours(file).ok().flatten(),
        _ => None,
    };
    let colours = colours.map(|colours| format!(" {colours}")).unwrap_or_default();
    Some(format!("{}×{}{colours}", size.width, size.height))
}

fn png_colours(file: &mut impl Content) -> io::Result<Option<String>> {
    let mut head = [0; 26];
    file.seek(SeekFrom::Start(0))?;
    file.read_exact(&mut head)?;
    let colours = match head[25] {
        0 => "grey",
        2 => "RGB",
        3 => "palette",
        4 => "grey with alpha",
        6 => "RGBA",
        _ => return Ok(None),
    };
    let bits = head[24];
    Ok(Some(if bits == 8 { colours.to_owned() } else { format!("{colours}, {bits} bits") }))
}

/// Goes from segment to segment to the one with the frame.
fn jpeg_colours(file: &mut impl Content) -> io::Result<Option<String>> {
    file.seek(SeekFrom::Start(2))?;
    for _ in 0..PARTS {
        let mut head = [0; 4];
        file.read_exact(&mut head)?;
        let [0xff, marker, high, low] = head else { return Ok(None) };
        let is_frame = matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc);
        if !is_frame {
            file.seek_relative(i64::from(u16::from_be_bytes([high, low])) - 2)?;
            continue;
        }
        let mut frame = [0; 6];
        file.read_exact(&mut frame)?;
        let colours = match frame[5] {
            1 => "grey",
            3 => "RGB",
            4 => "CMYK",
            _ => return Ok(None),
        };
        return Ok(Some(colours.to_owned()));
    }
    Ok(None)
}

/// Sample rate, channels and seconds of a WAV file.
fn wav(file: &mut impl Content) -> io::Result<Option<String>> {
    let mut head = [0; 12];
    file.read_exact(&mut head)?;
    if !(head.starts_with(b"RIFF") && head.ends_with(b"WAVE")) {
        return Ok(None);
    }
    let mut format = None;
    for _ in 0..PARTS {
        let mut chunk = [0; 8];
        file.read_exact(&mut chunk)?;
        let [a, b, c, d, size @ ..] = chunk;
        let size = u32::from_le_bytes(size);
        match (&[a, b, c, d], format) {
            (b"fmt ", _) if size >= 16 => {
                let mut text = [0; 16];
                file.read_exact(&mut text)?;
                format = Some(text);
                file.seek_relative(i64::from(size) - 16 + i64::from(size % 2))?;
            }
            (b"data", Some(format)) => return Ok(sound(format, size)),
            _ => file.seek_relative(i64::from(size) + i64::from(size % 2))?,
        }
    }
    Ok(None)
}

fn sound(format: [u8; 16], size: u32) -> Option<String> {
    let [_, _, c0, c1, r0, r1, r2, r3, b0, b1, b2, b3, ..] = format;
    let channels = words::counted(usize::from(u16::from_le_bytes([c0, c1])), "channel");
    let rate = u32::from_le_bytes([r0, r1, r2, r3]);
    let per_second = u32::from_le_bytes([b0, b1, b2, b3]);
    let seconds = words::number((f64::from(size) * 10.0 / f64::from(per_second)).round() / 10.0);
    (per_second > 0).then(|| format!("{rate} Hz, {channels}, {seconds} s"))
}

/// Sample rate, channels and seconds of an AIFF file.
fn aiff(file: &mut impl Content) -> io::Result<Option<String>> {
    let mut head = [0; 12];
    file.read_exact(&mut head)?;
    if !(head.starts_with(b"FORM") && [*b"AIFF", *b"AIFC"].contains(&[head[8], head[9], head[10], head[11]]))
    {
        return Ok(None);
    }
    for _ in 0..PARTS {
        let mut chunk = [0; 8];
        file.read_exact(&mut chunk)?;
        let [a, b, c, d, size @ ..] = chunk;
        let size = i64::from(u32::from_be_bytes(size));
        if &[a, b, c, d] != b"COMM" {
            file.seek_relative(size + size % 2)?;
            continue;
        }
        let mut common = [0; 18];
        file.read_exact(&mut common)?;
        let [c0, c1, f0, f1, f2, f3, _, _, e0, e1, m0, m1, ..] = common;
        let channels = words::counted(usize::from(u16::from_be_bytes([c0, c1])), "channel");
        // The rate is an extended float; its first 16 bits of mantissa are enough for the usual rates.
        let exponent = i32::from(u16::from_be_bytes([e0, e1])) - 16_383 - 15;
        let rate = f64::from(u16::from_be_bytes([m0, m1])) * 2_f64.powi(exponent);
        let frames = f64::from(u32::from_be_bytes([f0, f1, f2, f3]));
        let seconds = words::number((frames * 10.0 / rate).round() / 10.0);
        return Ok((rate > 0.0).then(|| format!("{rate:.0} Hz, {channels}, {seconds} s")));
    }
    Ok(None)
}
