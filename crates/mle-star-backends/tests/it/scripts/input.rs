//! The data as real scripts see it.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use mle_star_backends::script::environment::{EnvironmentChoice, python_environment};
use mle_star_process::sandbox::Layers;

use super::world::World;

/// What scripts usually do with their data.
const USES: &str = "
import glob, os, pathlib, shutil, subprocess
def below(top): return sum(len(files) for _, _, files in os.walk(top))
print(sorted(os.listdir('input')), os.path.isdir('input'), os.path.islink('input'))
print(below('input'), below('./input'), below(os.path.join(os.getcwd(), 'input')))
print(sorted(glob.glob('input/*.csv')), glob.glob('./input/**/*.png', recursive=True))
print(sorted(str(path) for path in pathlib.Path('input').rglob('*.png')), pathlib.Path('input/train.csv').resolve().exists())
print(open('final/../input/train.csv').read().split(), os.path.getsize('input/images/a.png'))
shutil.copytree('input', 'copy')
print(open('copy/images/a.png').read(), below('copy'))
os.chdir('final')
print(open('../input/train.csv').read().split(), [entry.name for entry in os.scandir('../input') if entry.is_file()])
os.chdir('../input')
open('../final/submission.csv', 'w').write('id,y\\n1,0\\n2,1\\n')
print(subprocess.run('cat train.csv images/a.png | wc -c', shell=True, capture_output=True, text=True).stdout.strip())
os.chdir('images')
print(os.listdir(), open('../train.csv').read().split())
";

const SEEN: &str = "['images', 'train.csv'] True False
2 2 2
['input/train.csv'] ['./input/images/a.png']
['input/images/a.png'] True
['id,y', '1,0'] 3
png 2
['id,y', '1,0'] ['train.csv']
12
['a.png'] ['id,y', '1,0']
";

async fn world(layers: Layers) -> World {
    let mut world = World::new().await;
    fs::create_dir(world.setup.data_dir.join("images")).unwrap();
    fs::write(world.setup.data_dir.join("images/a.png"), "png").unwrap();
    world.setup.isolation.layers = layers;
    world
}

#[tokio::test]
async fn scripts_find_a_folder_with_files() {
    let probed = Layers::probed();
    let landlock = Layers { landlock: probed.landlock, limits: true, ..Layers::none() };
    for layers in [probed.clone(), Layers { landlock: 0, ..probed.clone() }, landlock, Layers::none()] {
        let outcome = world(layers.clone()).await.run(USES).await;
        assert_eq!(
            (outcome.stdout.text().as_str(), outcome.notes.len()),
            (SEEN, 0),
            "{layers:?} {outcome:?}"
        );
        assert_eq!(outcome.submission.map(|found| found.findings.len()), Some(0), "{layers:?}");
    }
}

/// Where the system does not refuse changes, a script has its own copy.
#[tokio::test]
async fn the_data_stays_as_it_is() {
    let changes = "import os\n\
        for change in (lambda f: os.chmod(f, 0o666), lambda f: open(f, 'a').write('2,1\\n'), lambda f: os.truncate(f, 0), lambda f: os.utime(f, (1, 1))):\n    \
            for file in ('input/train.csv', 'input/images/a.png'):\n        \
                try: change(file)\n        except OSError: pass\n";
    let probed = Layers::probed();
    let landlock = Layers { landlock: probed.landlock, limits: true, ..Layers::none() };
    for layers in [probed.clone(), Layers { landlock: 0, ..probed.clone() }, landlock, Layers::none()] {
        let world = world(layers.clone()).await;
        let outcome = world.run(changes).await;
        assert_eq!((outcome.is_error(), outcome.notes.len()), (false, 0), "{layers:?} {outcome:?}");
        let kept = fs::read_to_string(world.setup.data_dir.join("train.csv")).unwrap();
        assert_eq!(kept, "id,y\n1,0\n", "{layers:?}");
    }
    // Data in a folder that scripts may write to is not protected.
    let mut world = world(probed.clone()).await;
    world.setup.isolation.writable.push(world.setup.data_dir.clone());
    let outcome = world.run(changes).await;
    assert_eq!((outcome.is_error(), outcome.notes.len()), (false, 0), "{outcome:?}");
}

/// The time that copying 20 MiB takes.
#[tokio::test]
#[ignore = "a measurement"]
async fn the_time_of_a_script_with_its_own_copy() {
    let given = EnvironmentChoice::Given("python3".into());
    let environment = python_environment(given, &|_| ()).await.unwrap();
    for files in [1, 500] {
        let mut world = World::new().await;
        world.setup.environment = environment.clone();
        for n in 0..files {
            let file = File::create(world.setup.data_dir.join(format!("{n}.bin"))).unwrap();
            std::io::Write::write_all(&mut &file, &vec![7; (20 << 20) / files]).unwrap();
        }
        let writable = [Vec::new(), vec![world.setup.data_dir.clone()]];
        let mut times = [Duration::MAX; 2];
        for round in 0..20 {
            let which = round % 2;
            world.setup.isolation.writable = writable[which].clone();
            let runner = world.runner();
            let began = Instant::now();
            let request = super::world::request("pass", Duration::from_secs(60));
            mle_star::backend::ScriptRunner::run(&runner, &request).await.unwrap();
            times[which] = times[which].min(began.elapsed());
        }
        println!("{files} files: links {:?}, copies {:?}", times[0], times[1]);
    }
}
