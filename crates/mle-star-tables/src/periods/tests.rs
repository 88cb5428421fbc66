//! Tests of periods.
