//! `init` and `run` with the data layouts of MLE-bench Lite.

#[path = "../../../mle-star-tables/tests/it/miniatures.rs"]
mod miniatures;

use std::path::Path;

use crate::sealed::Sealed;

const IMAGES: &str = "the offline agents work on tables, and the data of this task are images";

/// The competitions that the offline agents refuse, and a part of the sentence that says why.
const REFUSED: [(&str, &str); 12] = [
    ("aerial-cactus-identification", IMAGES),
    ("aptos2019-blindness-detection", IMAGES),
    ("denoising-dirty-documents", "no train.csv in data: the offline agents need a training table"),
    ("dog-breed-identification", IMAGES),
    ("dogs-vs-cats-redux-kernels-edition", "no train.csv in data: the offline agents need a training table"),
    ("histopathologic-cancer-detection", IMAGES),
    ("mlsp-2013-birds", "no train.csv in data: the offline agents need a training table"),
    ("plant-pathology-2020-fgvc7", IMAGES),
    ("ranzcr-clip-catheter-line-classification", IMAGES),
    ("text-normalization-challenge-english-language", "this task asks for texts"),
    ("text-normalization-challenge-russian-language", "this task asks for texts"),
    ("the-icml-2013-whale-challenge-right-whale-redux", "no train.csv in data: the offline agents need"),
];

#[test]
fn every_layout_can_begin_and_what_the_rules_cannot_do_is_said_in_a_sentence() {
    for miniature in miniatures::ALL {
        let name = miniature.name;
        let sealed = Sealed::empty();
        miniature.write(&sealed.path("data"));

        // With a model, every run starts: an estimate prepares all of it.
        let said = sealed.run("run data --agents files --set agents_dir=calls --estimate");
        assert_eq!(said.code, 0, "{name}: {said:?}");
        let init = sealed.run("init data");
        assert_eq!(init.code, 0, "{name}: {init:?}");
        assert!(sealed.read("data/task.yaml").contains("#   holdout: off ("), "{name}");

        let refused = REFUSED.iter().find(|(refused, _)| *refused == name);
        let Some((_, why)) = refused else {
            let said = sealed.run("run data --agents offline --estimate");
            assert_eq!(said.code, 0, "{name}: {said:?}");
            continue;
        };
        for options in ["--agents offline", "--agents offline --estimate"] {
            let said = sealed.run(&format!("run data {options}"));
            assert!(said.code == 2 && said.stderr.contains(why), "{name}: {said:?}");
            assert!(said.stderr.contains("hint: ") && said.stderr.lines().count() <= 3, "{name}: {said:?}");
        }
        assert!(!Path::new(&sealed.path("runs")).exists(), "{name}");
    }
}
