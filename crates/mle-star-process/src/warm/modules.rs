//! Which modules a worker imports.

use std::collections::BTreeSet;

use ruff_python_ast::Stmt;
use ruff_python_ast::visitor::{Visitor, walk_stmt};
use ruff_python_parser::parse_module;

/// Imported before the scripts are known.
pub(super) const DEFAULT: [&str; 20] = [
    "numpy",
    "pandas",
    "scipy.stats",
    "scipy.sparse",
    "sklearn.compose",
    "sklearn.decomposition",
    "sklearn.ensemble",
    "sklearn.feature_extraction.text",
    "sklearn.impute",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.model_selection",
    "sklearn.neighbors",
    "sklearn.pipeline",
    "sklearn.preprocessing",
    "sklearn.svm",
    "sklearn.tree",
    "lightgbm",
    "xgboost",
    "catboost",
];

/// Imported before the scripts are known on a machine with GPUs. Every optimizer imports the second, and it takes longer
/// than the rest of torch.
pub(super) const TORCH: [&str; 2] = ["torch", "torch._dynamo"];

/// Packages that import torch and are not imported ahead themselves.
const ON_TORCH: [&str; 15] = [
    "accelerate",
    "diffusers",
    "fastai",
    "lightning",
    "peft",
    "pytorch_lightning",
    "segmentation_models_pytorch",
    "sentence_transformers",
    "tabpfn",
    "timm",
    "torch_geometric",
    "torchaudio",
    "torchmetrics",
    "torchtext",
    "transformers",
];

/// Packages that are slow to import and safe to fork after that: importing them starts no threads, opens no GPU and
/// reads nothing of HOME. That excludes tensorflow, jax, polars, cupy, nltk and whatever uses the Hugging Face cache.
const KNOWN: [&str; 22] = [
    "PIL",
    "category_encoders",
    "catboost",
    "cv2",
    "gensim",
    "imblearn",
    "lightgbm",
    "matplotlib",
    "networkx",
    "numba",
    "numpy",
    "optuna",
    "pandas",
    "scipy",
    "seaborn",
    "shap",
    "skimage",
    "sklearn",
    "statsmodels",
    "torch",
    "torchvision",
    "xgboost",
];

/// The modules that `script` imports anywhere and that are slow to import and safe in a worker.
pub(super) fn worth_importing(script: &str) -> BTreeSet<String> {
    let Ok(parsed) = parse_module(script) else { return BTreeSet::new() };
    let mut imports = Imports(BTreeSet::new());
    imports.visit_body(parsed.suite());
    let mut names = imports.0;
    let package = |name: &String| name.split('.').next().unwrap_or_default().to_owned();
    let uses_torch = names.iter().map(package).any(|name| name == "torch" || ON_TORCH.contains(&&*name));
    names.retain(|name| KNOWN.contains(&&*package(name)));
    names.extend(TORCH.iter().filter(|_| uses_torch).map(|name| (*name).to_owned()));
    names
}

/// The packages of modules.
pub(super) fn packages(modules: &BTreeSet<String>) -> BTreeSet<String> {
    modules.iter().filter_map(|name| name.split('.').next()).map(ToOwned::to_owned).collect()
}

struct Imports(BTreeSet<String>);

impl Visitor<'_> for Imports {
    fn visit_stmt(&mut self, statement: &Stmt) {
        match statement {
            Stmt::Import(import) => self.0.extend(import.names.iter().map(|alias| alias.name.to_string())),
            Stmt::ImportFrom(import) if import.level == 0 => {
                self.0.extend(import.module.as_ref().map(ToString::to_string));
            }
            _ => walk_stmt(self, statement),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slow_imports_of_a_script_are_found_wherever_they_are() {
        let check = |script: &str, expected: &[&str]| {
            let found = worth_importing(script);
            assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected, "{script}");
        };
        check("import os, json, helper", &[]);
        check("import numpy as np, pandas.api.types", &["numpy", "pandas.api.types"]);
        check("from sklearn.svm import SVC, NuSVC\nfrom . import torch\n", &["sklearn.svm"]);
        check("def f():\n    try:\n        import shap\n    except ImportError:\n        pass\n", &["shap"]);
        check("from torch import nn", &["torch", "torch._dynamo"]);
        check("from transformers import Trainer", &["torch", "torch._dynamo"]);
        check("import tensorflow, torch_like, polars", &[]);
        check("import numpy as", &[]);
    }
}
