//! The data as real scripts see it.

use std::fs;

use mle_star_process::sandbox::Layers;

use super::world::World;

/// What scripts usually do with their data.
const USES: &str = "
import os, pathlib, shutil, subprocess
def below(top): return sum(len(files) for _, _, files in os.walk(top))
print(sorted(os.listdir('input')), os.path.isdir('input'), os.path.islink('input'))
print(below('input'), below('./input'), below(os.path.join(os.getcwd(), 'input')))
print(sorted(str(path) for path in pathlib.Path('input').rglob('*.png')), pathlib.Path('input/train.csv').resolve().exists())
print(open('final/../input/train.csv').read().split(), os.path.getsize('input/images/a.png'))
shutil.copytree('input', 'copy')
print(open('copy/images/a.png').read(), below('copy'))
os.chdir('final')
print(open('../input/train.csv').read().split(), [entry.name for entry in os.scandir('../input') if entry.is_file()])
os.chdir('../input')
open('../final/submission.csv', 'w').write('id,y\\n1,0\\n2,1\\n')
print(subprocess.run('cat train.csv images/a.png | wc -c', shell=True, capture_output=True, text=True).stdout.strip())
";

const SEEN: &str = "['images', 'train.csv'] True False
2 2 2
['input/images/a.png'] True
['id,y', '1,0'] 3
png 2
['id,y', '1,0'] ['train.csv']
12
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
}
