//! Data folders like those of the 22 competitions of MLE-bench Lite: their names of files and columns, and made-up values.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A competition in miniature.
pub struct Miniature {
    /// The competition.
    pub name: &'static str,
    /// How submissions are evaluated, as in its description.
    pub evaluated: &'static str,
    make: fn(&Path),
}

const AUC: &str =
    "[area under the ROC curve](http://en.wikipedia.org/wiki/Receiver_operating_characteristic)";
const COLUMN_WISE_AUC: &str = "mean column-wise ROC AUC";
const TOKENS: &str = "prediction accuracy (the share of tokens that are right)";

/// Rows of most training tables, and of most test tables.
const TRAIN: usize = 60;
const TEST: usize = 12;
/// Kinds of a hundred dogs or leaves would be too many.
const BREEDS: [&str; 4] = ["affenpinscher", "beagle", "boxer", "yorkshire_terrier"];
const TOXIC: &str = "toxic,severe_toxic,obscene,threat,insult,identity_hate";
const TUBES: &str = "ETT - Abnormal,ETT - Borderline,ETT - Normal,NGT - Abnormal,NGT - Borderline,\
    NGT - Incompletely Imaged,NGT - Normal,CVC - Abnormal,CVC - Borderline,CVC - Normal,Swan Ganz Catheter Present";

/// All competitions, in the order of MLE-bench's list.
pub const ALL: [Miniature; 22] = [
    Miniature { name: "aerial-cactus-identification", evaluated: AUC, make: cactus },
    Miniature {
        name: "aptos2019-blindness-detection",
        evaluated: "the quadratic weighted kappa",
        make: aptos,
    },
    Miniature {
        name: "denoising-dirty-documents",
        evaluated: "[root mean squared error](x)",
        make: documents,
    },
    Miniature {
        name: "detecting-insults-in-social-commentary",
        evaluated: "the Area under the Receiver Operating Curve (AUC)",
        make: insults,
    },
    Miniature { name: "dog-breed-identification", evaluated: "[Multi Class Log Loss](x)", make: breeds },
    Miniature { name: "dogs-vs-cats-redux-kernels-edition", evaluated: "the log loss", make: dogs_and_cats },
    Miniature { name: "histopathologic-cancer-detection", evaluated: AUC, make: cancer },
    Miniature {
        name: "jigsaw-toxic-comment-classification-challenge",
        evaluated: COLUMN_WISE_AUC,
        make: jigsaw,
    },
    Miniature { name: "leaf-classification", evaluated: "the multi-class logarithmic loss", make: leaves },
    Miniature { name: "mlsp-2013-birds", evaluated: AUC, make: birds },
    Miniature {
        name: "new-york-city-taxi-fare-prediction",
        evaluated: "the [root mean-squared error](x) or RMSE",
        make: taxi,
    },
    Miniature {
        name: "nomad2018-predict-transparent-conductors",
        evaluated: "the column-wise [root mean squared logarithmic error](x)",
        make: conductors,
    },
    Miniature { name: "plant-pathology-2020-fgvc7", evaluated: COLUMN_WISE_AUC, make: plants },
    Miniature { name: "random-acts-of-pizza", evaluated: AUC, make: pizza },
    Miniature { name: "ranzcr-clip-catheter-line-classification", evaluated: AUC, make: catheters },
    Miniature { name: "siim-isic-melanoma-classification", evaluated: AUC, make: melanoma },
    Miniature {
        name: "spooky-author-identification",
        evaluated: "multi-class logarithmic loss",
        make: spooky,
    },
    Miniature {
        name: "tabular-playground-series-dec-2021",
        evaluated: "multi-class classification accuracy",
        make: december,
    },
    Miniature { name: "tabular-playground-series-may-2022", evaluated: AUC, make: may },
    Miniature { name: "text-normalization-challenge-english-language", evaluated: TOKENS, make: english },
    Miniature { name: "text-normalization-challenge-russian-language", evaluated: TOKENS, make: russian },
    Miniature { name: "the-icml-2013-whale-challenge-right-whale-redux", evaluated: AUC, make: whales },
];

impl Miniature {
    /// Writes the data and a description into a folder.
    pub fn write(&self, dir: &Path) {
        let text = format!(
            "## Description\n\nPredict well.\n\n## Evaluation\n\nSubmissions are evaluated on {}.\n",
            self.evaluated
        );
        put(dir, "description.md", text.as_bytes());
        (self.make)(dir);
    }
}

fn put(dir: &Path, name: &str, bytes: &[u8]) {
    let path = dir.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn text(header: &str, rows: std::ops::Range<usize>, row: impl Fn(usize) -> String) -> String {
    rows.fold(format!("{header}\n"), |mut text, at| {
        writeln!(text, "{}", row(at)).unwrap();
        text
    })
}

fn train(dir: &Path, name: &str, header: &str, row: impl Fn(usize) -> String) {
    put(dir, name, text(header, 0..TRAIN, row).as_bytes());
}

/// The rows after those of the training table.
fn test(dir: &Path, name: &str, header: &str, row: impl Fn(usize) -> String) {
    put(dir, name, text(header, TRAIN..TRAIN + TEST, row).as_bytes());
}

fn many(dir: &Path, ids: std::ops::Range<usize>, name: impl Fn(usize) -> String, bytes: &[u8]) {
    ids.for_each(|at| put(dir, &name(at), bytes));
}

fn archive(dir: &Path, name: &str, members: impl Iterator<Item = (String, Vec<u8>)>) {
    let mut zip = ZipWriter::new(File::create(dir.join(name)).unwrap());
    for (member, bytes) in members {
        zip.start_file(member, SimpleFileOptions::default()).unwrap();
        zip.write_all(&bytes).unwrap();
    }
    zip.finish().unwrap();
}

fn jpg() -> Vec<u8> {
    let mut jpg =
        b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\xff\xc0\0\x11\x08\0\x20\0\x20\x03".to_vec();
    jpg.extend([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 0xff, 0xd9]);
    jpg
}

fn png() -> Vec<u8> {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\x02\x1c\0\0\x01\xa4\x08\0\0\0\0".to_vec();
    png.extend([0; 8]);
    png
}

fn bmp() -> Vec<u8> {
    let mut bmp = b"BM\0\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
    bmp.extend([0xe6, 0x04, 0, 0, 0x00, 0x01, 0, 0, 1, 0, 8, 0]);
    bmp.extend([0; 24]);
    bmp
}

/// Ten seconds.
fn wav() -> Vec<u8> {
    let mut wav = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    wav.extend(16_000_u32.to_le_bytes());
    wav.extend(32_000_u32.to_le_bytes());
    wav.extend(b"\x02\0\x10\0data");
    wav.extend(320_000_u32.to_le_bytes());
    wav
}

/// Two seconds.
fn aif() -> Vec<u8> {
    let mut aif = b"FORM\0\0\0\0AIFFCOMM\0\0\0\x12\0\x01".to_vec();
    aif.extend(4_000_u32.to_be_bytes());
    aif.extend(b"\0\x10\x40\x09\xfa\0\0\0\0\0\0\0SSND\0\0\0\0");
    aif
}

/// A made-up identifier without order.
fn hex(at: usize) -> String {
    format!("{:016x}", (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

fn sentence(at: usize) -> String {
    format!("it was number {at} of the long dark nights that nobody in the old town {} forgot", hex(at))
}

fn repeated(cell: &str, times: usize) -> String {
    vec![cell; times].join(",")
}

fn cactus(dir: &Path) {
    train(dir, "train.csv", "id,has_cactus", |at| format!("{}.jpg,{}", hex(at), usize::from(at % 4 > 0)));
    test(dir, "sample_submission.csv", "id,has_cactus", |at| format!("{}.jpg,0.5", hex(at)));
    archive(dir, "train.zip", (0..TRAIN).map(|at| (format!("train/{}.jpg", hex(at)), jpg())));
    archive(dir, "test.zip", (TRAIN..TRAIN + TEST).map(|at| (format!("test/{}.jpg", hex(at)), jpg())));
}

fn aptos(dir: &Path) {
    train(dir, "train.csv", "id_code,diagnosis", |at| format!("{},{}", hex(at), at % 5));
    test(dir, "test.csv", "id_code", hex);
    test(dir, "sample_submission.csv", "id_code,diagnosis", |at| format!("{},0", hex(at)));
    many(dir, 0..TRAIN, |at| format!("train_images/{}.png", hex(at)), &png());
    many(dir, TRAIN..TRAIN + TEST, |at| format!("test_images/{}.png", hex(at)), &png());
}

fn documents(dir: &Path) {
    for folder in ["train", "train_cleaned"] {
        many(dir, 2..8, |at| format!("{folder}/{}.png", at * 3), &png());
    }
    many(dir, 0..2, |at| format!("test/{}.png", at + 1), &png());
    let pixel = |at: usize| format!("{}_{}_{},1", at / 1_600 + 1, at % 1_600 / 40 + 1, at % 40 + 1);
    put(dir, "sampleSubmission.csv", text("id,value", 0..3_200, pixel).as_bytes());
}

fn insults(dir: &Path) {
    let row = |at: usize| {
        format!("2012{:02}{:02}0{}0141Z,\"\"\"{}\"\"\"", at % 6 + 4, at % 27 + 1, at % 9, sentence(at))
    };
    train(dir, "train.csv", "Insult,Date,Comment", |at| format!("{},{}", usize::from(at % 4 == 0), row(at)));
    test(dir, "test.csv", "Date,Comment", row);
    test(dir, "sample_submission_null.csv", "Insult,Date,Comment", |at| format!("0,{}", row(at)));
}

fn breeds(dir: &Path) {
    train(dir, "labels.csv", "id,breed", |at| format!("{},{}", hex(at), BREEDS[at % 4]));
    let header = format!("id,{}", BREEDS.join(","));
    test(dir, "sample_submission.csv", &header, |at| format!("{},{}", hex(at), repeated("0.25", 4)));
    many(dir, 0..TRAIN, |at| format!("train/{}.jpg", hex(at)), &jpg());
    many(dir, TRAIN..TRAIN + TEST, |at| format!("test/{}.jpg", hex(at)), &jpg());
}

fn dogs_and_cats(dir: &Path) {
    let pet = |at: usize| format!("train/{}.{}.jpg", ["cat", "dog"][at % 2], at / 2);
    archive(dir, "train.zip", (0..TRAIN).map(|at| (pet(at), jpg())));
    archive(dir, "test.zip", (1..=TEST).map(|at| (format!("test/{at}.jpg"), jpg())));
    put(dir, "sample_submission.csv", text("id,label", 1..TEST + 1, |at| format!("{at},0.5")).as_bytes());
}

fn cancer(dir: &Path) {
    train(dir, "train_labels.csv", "id,label", |at| format!("{},{}", hex(at), at % 2));
    test(dir, "sample_submission.csv", "id,label", |at| format!("{},0", hex(at)));
    many(dir, 0..TRAIN, |at| format!("train/{}.tif", hex(at)), b"II*\0");
    many(dir, TRAIN..TRAIN + TEST, |at| format!("test/{}.tif", hex(at)), b"II*\0");
}

fn jigsaw(dir: &Path) {
    let row = |at: usize| format!("{},\"{}\"", hex(at), sentence(at));
    let labels = |at: usize| {
        (0..6).map(|label| usize::from(at.is_multiple_of(label + 2)).to_string()).collect::<Vec<_>>()
    };
    let header = format!("id,comment_text,{TOXIC}");
    train(dir, "train.csv", &header, |at| format!("{},{}", row(at), labels(at).join(",")));
    test(dir, "test.csv", "id,comment_text", row);
    test(dir, "sample_submission.csv", &format!("id,{TOXIC}"), |at| {
        format!("{},{}", hex(at), repeated("0.5", 6))
    });
}

fn leaves(dir: &Path) {
    let species = ["Acer_Capillipes", "Acer_Mono", "Quercus_Rubra"];
    let features = |kind: &str| (1..=64).map(|at| format!("{kind}{at}")).collect::<Vec<_>>().join(",");
    let features = ["margin", "shape", "texture"].map(features).join(",");
    let values =
        |at: usize| (0..192).map(|column| format!("0.{:04}", (at * 37 + column) % 9_973)).collect::<Vec<_>>();
    train(dir, "train.csv", &format!("id,species,{features}"), |at| {
        format!("{},{},{}", at * 2 + 1, species[at % 3], values(at).join(","))
    });
    test(dir, "test.csv", &format!("id,{features}"), |at| format!("{},{}", at * 2 + 1, values(at).join(",")));
    test(dir, "sample_submission.csv", &format!("id,{}", species.join(",")), |at| {
        format!("{},{}", at * 2 + 1, repeated("0.333", 3))
    });
    many(dir, 0..TRAIN + TEST, |at| format!("images/{}.jpg", at * 2 + 1), &jpg());
}

fn birds(dir: &Path) {
    let name = |at: usize| format!("PC{}_20090606_0500{:02}_0010", at % 13 + 1, at);
    let labels = |at: usize| match at % 5 {
        4 => format!("{at},?"),
        3 => at.to_string(),
        few => format!("{at},{few},{}", few + 7),
    };
    let essential = [
        ("CVfolds_2.txt", text("rec_id,fold", 0..20, |at| format!("{at},{}", usize::from(at % 5 == 4)))),
        ("rec_id2filename.txt", text("rec_id,filename", 0..20, |at| format!("{at},{}", name(at)))),
        ("rec_labels_test_hidden.txt", text("rec_id,[labels]", 0..20, labels)),
        ("species_list.txt", text("class_id,code,species", 0..3, |at| format!("{at},B{at},Bird {at}"))),
    ];
    essential.iter().for_each(|(file, text)| put(dir, &format!("essential_data/{file}"), text.as_bytes()));
    many(dir, 0..20, |at| format!("essential_data/src_wavs/{}.wav", name(at)), &wav());
    for folder in ["filtered_spectrograms", "spectrograms", "supervised_segmentation"] {
        many(dir, 0..20, |at| format!("supplemental_data/{folder}/{}.bmp", name(at)), &bmp());
    }
    let segments = text("rec_id,[histogram of segment features]", 0..20, |at| format!("{at},0.1,0.9"));
    put(dir, "supplemental_data/histogram_of_segments.txt", segments.as_bytes());
    let pairs = |at: usize| format!("{},0", (at / 19 * 5 + 4) * 100 + at % 19);
    put(dir, "sample_submission.csv", text("Id,Probability", 0..4 * 19, pairs).as_bytes());
}

fn taxi(dir: &Path) {
    let columns =
        "pickup_datetime,pickup_longitude,pickup_latitude,dropoff_longitude,dropoff_latitude,passenger_count";
    let key = |at: usize| format!("20{:02}-06-15 17:26:{:02}.000000{at}", at % 7 + 9, at % 60);
    let ride = |at: usize| {
        format!(
            "20{:02}-06-15 17:26:{:02} UTC,-73.{at},40.{at},-73.9{at},40.7{at},{}",
            at % 7 + 9,
            at % 60,
            at % 6 + 1
        )
    };
    train(dir, "labels.csv", &format!("key,fare_amount,{columns}"), |at| {
        format!("{},{}.5,{}", key(at), at % 40 + 3, ride(at))
    });
    test(dir, "test.csv", &format!("key,{columns}"), |at| format!("{},{}", key(at), ride(at)));
    test(dir, "sample_submission.csv", "key,fare_amount", |at| format!("{},11.35", key(at)));
    put(dir, "GCP-Coupons-Instructions.rtf", b"{\\rtf1}");
}

fn conductors(dir: &Path) {
    let columns = "spacegroup,number_of_total_atoms,percent_atom_al,percent_atom_ga,percent_atom_in,\
        lattice_vector_1_ang,lattice_vector_2_ang,lattice_vector_3_ang,lattice_angle_alpha_degree,\
        lattice_angle_beta_degree,lattice_angle_gamma_degree";
    let cell = |at: usize| {
        format!(
            "{},{}.0,0.{at},0.25,0.5,9.{at},8.{at},9.1{at},90.{at},90.01,{}.9",
            [33, 194, 227][at % 3],
            at % 4 * 20 + 20,
            at
        )
    };
    let targets = "formation_energy_ev_natom,bandgap_energy_ev";
    train(dir, "train.csv", &format!("id,{columns},{targets}"), |at| {
        format!("{},{},0.{at:03},{}.{at}", at + 1, cell(at), at % 4 + 1)
    });
    // The IDs of both tables begin with 1.
    test(dir, "test.csv", &format!("id,{columns}"), |at| format!("{},{}", at - TRAIN + 1, cell(at)));
    test(dir, "sample_submission.csv", &format!("id,{targets}"), |at| {
        format!("{},0.1779,1.8892", at - TRAIN + 1)
    });
    let geometry =
        b"#======\n#Created using a script\n#======\nlattice_vector 9.9 0 0\natom 0.1 0.2 0.3 Al\n";
    many(dir, 1..TRAIN + 1, |at| format!("train/{at}/geometry.xyz"), geometry);
    many(dir, 1..TEST + 1, |at| format!("test/{at}/geometry.xyz"), geometry);
}

fn plants(dir: &Path) {
    let name = |at: usize| if at < TRAIN { format!("Train_{at}") } else { format!("Test_{}", at - TRAIN) };
    let one_of = |at: usize| (0..4).map(|kind| usize::from(at % 4 == kind).to_string()).collect::<Vec<_>>();
    let header = "image_id,healthy,multiple_diseases,rust,scab";
    train(dir, "train.csv", header, |at| format!("{},{}", name(at), one_of(at).join(",")));
    test(dir, "test.csv", "image_id", name);
    test(dir, "sample_submission.csv", header, |at| format!("{},{}", name(at), repeated("0.25", 4)));
    many(dir, 0..TRAIN + TEST, |at| format!("images/{}.jpg", name(at)), &jpg());
}

fn pizza(dir: &Path) {
    let known = |at: usize| {
        format!(
            "\"giver_username_if_known\": \"N/A\", \"request_id\": \"t3_{}\", \"request_text_edit_aware\": \"{}\", \
             \"request_title\": \"[Request] a pizza for number {at}\", \"requester_account_age_in_days_at_request\": {at}.5, \
             \"requester_number_of_comments_at_request\": {}, \"requester_number_of_posts_at_request\": {}, \
             \"requester_subreddits_at_request\": [\"pics\", \"food\"], \"requester_upvotes_plus_downvotes_at_request\": {}, \
             \"unix_timestamp_of_request\": 13{at}00000.0",
            hex(at),
            sentence(at),
            at % 50,
            at % 3,
            at * 7
        )
    };
    let list = |rows: Vec<String>| format!("[\n    {}\n]", rows.join(",\n    "));
    let labelled = |at: usize| {
        format!(
            "{{{}, \"request_number_of_comments_at_retrieval\": {}, \"requester_received_pizza\": {}}}",
            known(at),
            at % 9,
            at.is_multiple_of(4)
        )
    };
    let train = list((0..TRAIN).map(labelled).collect());
    let test_rows = list((TRAIN..TRAIN + TEST).map(|at| format!("{{{}}}", known(at))).collect());
    for (name, text) in [("train", train), ("test", test_rows)] {
        put(dir, &format!("{name}.json"), text.as_bytes());
        archive(dir, &format!("{name}.zip"), [(format!("{name}.json"), text.into_bytes())].into_iter());
    }
    test(dir, "sampleSubmission.csv", "request_id,requester_received_pizza", |at| {
        format!("t3_{},0", hex(at))
    });
}

fn catheters(dir: &Path) {
    let uid = |at: usize| format!("1.2.826.0.1.{}", hex(at));
    let labels = |at: usize| {
        (0..11).map(|label| usize::from(at.is_multiple_of(label + 2)).to_string()).collect::<Vec<_>>()
    };
    train(dir, "train.csv", &format!("StudyInstanceUID,{TUBES},PatientID"), |at| {
        format!("{},{},{:09x}", uid(at), labels(at).join(","), at / 2)
    });
    train(dir, "train_annotations.csv", "StudyInstanceUID,label,data", |at| {
        format!("{},CVC - Normal,\"[[{at}, 7], [{at}, 9]]\"", uid(at / 2))
    });
    test(dir, "sample_submission.csv", &format!("StudyInstanceUID,{TUBES}"), |at| {
        format!("{},{}", uid(at), repeated("0", 11))
    });
    many(dir, 0..TRAIN, |at| format!("train/{}.jpg", uid(at)), &jpg());
    many(dir, TRAIN..TRAIN + TEST, |at| format!("test/{}.jpg", uid(at)), &jpg());
}

fn melanoma(dir: &Path) {
    let name = |at: usize| format!("ISIC_{:07}", at * 97 + 13);
    let known = |at: usize| {
        let (sex, place) = (["male", "female"][at % 2], ["torso", "upper extremity", "palms/soles"][at % 3]);
        format!("{},IP_{:07},{sex},{}.0,{place}", name(at), at / 4, at % 12 * 5 + 20)
    };
    let columns = "image_name,patient_id,sex,age_approx,anatom_site_general_challenge";
    train(dir, "train.csv", &format!("{columns},diagnosis,benign_malignant,target"), |at| {
        let ill = at % 10 == 0;
        let (diagnosis, malignant) = if ill { ("melanoma", "malignant") } else { ("unknown", "benign") };
        format!("{},{diagnosis},{malignant},{}", known(at), usize::from(ill))
    });
    test(dir, "test.csv", columns, known);
    test(dir, "sample_submission.csv", "image_name,target", |at| format!("{},0", name(at)));
    for (part, rows) in [("train", 0..TRAIN), ("test", TRAIN..TRAIN + TEST)] {
        many(dir, rows.clone(), |at| format!("{part}/{}.dcm", name(at)), b"DICM");
        many(dir, rows, |at| format!("jpeg/{part}/{}.jpg", name(at)), &jpg());
        many(dir, 0..2, |at| format!("tfrecords/{part}{at:02}-30.tfrec"), b"x");
    }
}

fn spooky(dir: &Path) {
    let row = |at: usize| format!("id{:05},\"{}\"", at * 7 + 1, sentence(at));
    train(dir, "train.csv", "id,text,author", |at| format!("{},{}", row(at), ["EAP", "HPL", "MWS"][at % 3]));
    test(dir, "test.csv", "id,text", row);
    test(dir, "sample_submission.csv", "id,EAP,HPL,MWS", |at| format!("id{:05},0.4,0.3,0.3", at * 7 + 1));
}

fn december(dir: &Path) {
    let soils = (1..=40).map(|at| format!("Soil_Type{at}")).collect::<Vec<_>>().join(",");
    let header = format!("Id,Elevation,Aspect,Slope,Wilderness_Area1,{soils}");
    let row = |at: usize| {
        let soils =
            (0..40).map(|soil| usize::from(at % 40 == soil).to_string()).collect::<Vec<_>>().join(",");
        format!("{at},{},{},{},{},{soils}", 2_500 + at * 7, at * 11 % 360, at % 50, at % 2)
    };
    train(dir, "train.csv", &format!("{header},Cover_Type"), |at| format!("{},{}", row(at), at % 3 + 1));
    test(dir, "test.csv", &header, row);
    test(dir, "sample_submission.csv", "Id,Cover_Type", |at| format!("{at},2"));
}

fn may(dir: &Path) {
    let header = (0..31).map(|at| format!("f_{at:02}")).collect::<Vec<_>>().join(",");
    let row = |at: usize| {
        let cell = |column: usize| match column {
            27 => hex(at)[..10].replace(|digit: char| digit.is_ascii_digit(), "B").to_uppercase(),
            7..=18 | 29 | 30 => (at % 7).to_string(),
            _ => format!("0.{:03}", (at * 31 + column * 7) % 997),
        };
        format!("{at},{}", (0..31).map(cell).collect::<Vec<_>>().join(","))
    };
    train(dir, "train.csv", &format!("id,{header},target"), |at| format!("{},{}", row(at), at % 2));
    test(dir, "test.csv", &format!("id,{header}"), row);
    test(dir, "sample_submission.csv", "id,target", |at| format!("{at},0.5"));
}

fn english(dir: &Path) {
    tokens(dir, "en", &["the", "of", "and", ",", "."]);
}

fn russian(dir: &Path) {
    tokens(dir, "ru", &["в", "и", "на", ",", "."]);
}

/// Sentences of ten tokens, of which few change.
fn tokens(dir: &Path, language: &str, frequent: &[&str; 5]) {
    let before = |at: usize| match at % 10 {
        9 => (1_900 + at).to_string(),
        8 => hex(at % 700),
        token => frequent[token % 5].to_owned(),
    };
    let after = |at: usize| match at % 10 {
        9 => format!("nineteen hundred and {at}"),
        _ => before(at),
    };
    let place = |at: usize| format!("{},{}", at / 10, at % 10);
    let train = text("\"sentence_id\",\"token_id\",\"class\",\"before\",\"after\"", 0..600, |at| {
        let class = if at % 10 == 9 { "DATE" } else { "PLAIN" };
        format!("{},\"{class}\",\"{}\",\"{}\"", place(at), before(at), after(at))
    });
    let test = text("\"sentence_id\",\"token_id\",\"before\"", 0..60, |at| {
        format!("{},\"{}\"", place(at), before(at))
    });
    let sample =
        text("\"id\",\"after\"", 0..60, |at| format!("\"{}_{}\",\"{}\"", at / 10, at % 10, before(at)));
    for (name, text) in [("train", train), ("test_2", test), ("sample_submission_2", sample)] {
        let file = format!("{language}_{name}.csv");
        archive(dir, &format!("{file}.zip"), [(file.clone(), text.into_bytes())].into_iter());
    }
}

fn whales(dir: &Path) {
    let clip = |at: usize| format!("200903{}_0{:05}_{at}s1ms", 28 + at % 2, at * 100);
    let train = (0..TRAIN)
        .map(|at| (format!("train2/{}_TRAIN{at}_{}.aif", clip(at), usize::from(at % 10 == 0)), aif()));
    archive(dir, "train2.zip", train);
    let name = |at: usize| format!("{}_Test{}.aif", clip(at), at - TRAIN);
    archive(dir, "test2.zip", (TRAIN..TRAIN + TEST).map(|at| (format!("test2/{}", name(at)), aif())));
    test(dir, "sampleSubmission.csv", "clip,probability", |at| format!("{},0", name(at)));
}
