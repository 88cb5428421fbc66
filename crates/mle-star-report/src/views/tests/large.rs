//! A run of more than 500 scripts.

use std::time::Instant;

use mle_star::testing::worlds::large;

use super::world::{Made, keep, made};
use super::{markup, part};
use crate::html::{self, Extent};

#[tokio::test]
async fn a_run_of_500_scripts_fits_into_5_mb() {
    let (world, inputs) = large(60);
    let Made { view, .. } = made(&world, &inputs).await;
    let began = Instant::now();
    let page = html::render(&view, Extent::Full).unwrap();
    let took = began.elapsed();
    let scripts = part(&view, "overview")["scripts"].as_u64().unwrap();
    println!("{scripts} scripts: {} bytes in {took:?}", page.len());
    keep("large", &page);
    assert!(scripts > 500, "{scripts}");
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    markup::check(&page);
}
