//! Pictures of numbers. Templates draw most of them: [`Scale`] and [`strips`] place marks in per cent of a width, and
//! [`line`], [`dots`] and [`stairs`] make lines in a square that is stretched, so that text keeps its size at any width. [`Story`]
//! is drawn here. The same figures give the same bytes, and the style sheet has the colours.

mod plot;
mod scale;
mod story;

pub use plot::{dots, levels, line, share, stairs, texts};
pub use scale::{Mark, Scale, strips, time_step};
pub use story::{Story, WIDTHS};

/// Numbers beyond this are not drawn: their differences would overflow.
pub const FAR: f64 = 1e300;

#[cfg(test)]
mod tests;
