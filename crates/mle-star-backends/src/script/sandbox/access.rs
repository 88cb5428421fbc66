//! Which paths a script may use.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use mle_star::config::Switch;

use super::super::environment::{Environment, Origin};
use super::super::machine::Machine;
use super::super::variables::OTHER_PYTHONS;

/// What any program reads.
const SYSTEM: [&str; 14] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix",
    "/gnu",
    "/sys",
    "/var/cache/fontconfig",
    "/run/current-system",
    "/run/opengl-driver",
];
/// What any program reads in `/etc`, where passwords and keys lie as well.
const SETTINGS: [&str; 46] = [
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "debian_version",
    "default/locale",
    "environment",
    "fonts",
    "gai.conf",
    "glvnd",
    "group",
    "host.conf",
    "hostname",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "ld.so.preload",
    "locale.alias",
    "locale.conf",
    "localtime",
    "lsb-release",
    "machine-id",
    "magic",
    "mailcap",
    "matplotlibrc",
    "mime.types",
    "mtab",
    "nsswitch.conf",
    "nvidia",
    "OpenCL",
    "os-release",
    "papersize",
    "passwd",
    "pki/ca-trust",
    "pki/tls/certs",
    "profile",
    "profile.d",
    "protocols",
    "python3",
    "resolv.conf",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
    "vulkan",
];
/// Where `/etc/resolv.conf` leads to.
const RESOLVERS: [&str; 3] = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];
/// Devices without a memory.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// How the device files of GPUs begin.
const GPU_DEVICES: [&str; 4] = ["nvidia", "dri", "kfd", "dxg"];
/// Variables that name folders with libraries, models or word lists; some hold several.
const FOLDER_VARIABLES: [&str; 9] = [
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_PATH",
    "HF_HUB_CACHE",
    "TORCH_HOME",
    "NLTK_DATA",
    "JAVA_HOME",
    "TESSDATA_PREFIX",
];

/// What a script may use of the files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    /// Folders in which everything is allowed.
    pub(crate) writable: Vec<PathBuf>,
    /// Folders and files that may be read and run.
    pub(crate) readable: Vec<PathBuf>,
    /// Device files, and folders of them, that may be read and written.
    pub(crate) devices: Vec<PathBuf>,
}

impl Access {
    /// What any program needs of the system.
    pub(super) fn of_any_program() -> Self {
        let settings = SETTINGS.iter().map(|name| Path::new("/etc").join(name));
        let readable = SYSTEM.iter().map(PathBuf::from).chain(settings).collect();
        Self { writable: Vec::new(), readable, devices: DEVICES.map(PathBuf::from).into() }
    }

    /// The system, the Python environment and the devices.
    pub(super) fn of_every_script(environment: &Environment, machine: &Machine, network: Switch) -> Self {
        let Self { mut readable, mut devices, .. } = Self::of_any_program();
        if network == Switch::On {
            readable.extend(RESOLVERS.map(PathBuf::from));
        }
        let named = named_folders(environment.origin, |name| env::var_os(name));
        // None of them may bring all of HOME with it.
        let home = env::home_dir().filter(|home| home.is_absolute());
        let holds_home = |path: &Path| home.as_ref().is_some_and(|home| home.starts_with(path));
        let own = python_folders(&environment.python).into_iter().chain(named);
        readable.extend(own.filter(|path| path.is_absolute() && !holds_home(path)));
        devices.extend(gpu_devices(machine, Path::new("/dev")));
        Self { writable: Vec::new(), readable, devices }
    }
}

/// The folders that the user's variables name, which are what `value` gives. Those that scripts do not get open
/// nothing.
fn named_folders(origin: Origin, value: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let is_kept = |name: &&&str| origin == Origin::Given || !OTHER_PYTHONS.contains(name);
    let values = FOLDER_VARIABLES.iter().filter(is_kept).filter_map(|name| value(name));
    values.flat_map(|value| env::split_paths(&value).collect::<Vec<_>>()).collect()
}

/// Where an interpreter and its libraries lie: the program itself, its own prefix, that of the one it was made from,
/// and what its `.pth` files name.
fn python_folders(python: &Path) -> Vec<PathBuf> {
    let prefix = |python: &PathBuf| {
        let programs = python.parent().filter(|folder| folder.ends_with("bin"))?;
        programs.parent().map(Path::to_owned)
    };
    let mut programs = vec![python.to_owned()];
    programs.extend(python.canonicalize().ok().filter(|real| real != python));
    let mut prefixes: Vec<PathBuf> = programs.iter().filter_map(prefix).collect();
    let made_from: Vec<PathBuf> = prefixes.iter().filter_map(|prefix| made_from(prefix)).collect();
    prefixes.extend(made_from);
    prefixes.sort();
    prefixes.dedup();
    let mut folders: Vec<PathBuf> = prefixes.iter().flat_map(|prefix| own_folders(prefix)).collect();
    folders.extend(prefixes.iter().flat_map(|prefix| named_in_pth(prefix)));
    folders.extend(programs);
    folders
}

/// The prefix of the interpreter that a virtual environment was made from.
fn made_from(prefix: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(prefix.join("pyvenv.cfg")).ok()?;
    let home = text.lines().find_map(|line| line.strip_prefix("home")?.trim_start().strip_prefix('='))?;
    Path::new(home.trim()).parent().map(Path::to_owned)
}

/// The whole prefix, unless it is a place where people keep other things as well.
fn own_folders(prefix: &Path) -> Vec<PathBuf> {
    let is_own = ["pyvenv.cfg", "conda-meta"].iter().any(|name| prefix.join(name).exists());
    let home = env::home_dir().unwrap_or_default();
    let is_shared = home.starts_with(prefix) || prefix == home.join(".local");
    if is_own || !is_shared {
        return vec![prefix.to_owned()];
    }
    ["bin", "lib", "lib64", "include"].map(|name| prefix.join(name)).into()
}

/// Folders of packages that are installed where their sources lie.
fn named_in_pth(prefix: &Path) -> Vec<PathBuf> {
    let entries =
        |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let versions = entries(prefix.join("lib")).filter(|path| path.join("site-packages").is_dir());
    let files = versions.flat_map(|version| entries(version.join("site-packages")));
    let texts = files
        .filter(|file| file.extension().is_some_and(|extension| extension == "pth"))
        .filter_map(|file| fs::read_to_string(file).ok());
    let lines = texts.flat_map(|text| text.lines().map(PathBuf::from).collect::<Vec<_>>());
    lines.filter(|line| line.as_os_str().as_bytes().starts_with(b"/") && line.is_dir()).collect()
}

/// The device files of GPUs below `folder`; none when there is no GPU to use. Every slot has one when the machine has.
fn gpu_devices(machine: &Machine, folder: &Path) -> Vec<PathBuf> {
    if machine.gpus.is_empty() {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_gpu = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        GPU_DEVICES.iter().any(|start| name.starts_with(start))
    };
    entries.filter(is_gpu).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::machine::Gpu;
    use super::*;

    #[test]
    fn an_environment_is_readable_with_what_it_was_made_from() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let make = |name: &str, text: &str| {
            fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
            fs::write(root.join(name), text).unwrap();
        };
        make("base/bin/python3", "");
        make("source/x.py", "");
        make("venv/bin/other", "");
        make("venv/pyvenv.cfg", &format!("home = {}/base/bin\nversion = 3.11\n", root.display()));
        make("venv/lib/python3.11/site-packages/own.pth", &format!("import x\n{}/source\n", root.display()));
        std::os::unix::fs::symlink(root.join("base/bin/python3"), root.join("venv/bin/python")).unwrap();
        let found = python_folders(&root.join("venv/bin/python"));
        let expected = ["base", "venv", "source", "venv/bin/python", "base/bin/python3"];
        assert_eq!(found, expected.map(|name| root.join(name)));
        // A program that lies anywhere brings nothing of its surroundings with it.
        assert_eq!(python_folders(&root.join("source/x.py")), [root.join("source/x.py")]);
    }

    #[test]
    fn variables_that_scripts_do_not_get_open_nothing() {
        let value = |name: &str| match name {
            "PYTHONPATH" => Some("/code:/more".into()),
            "TORCH_HOME" => Some("/torch".into()),
            _ => None,
        };
        let check = |origin, expected: &[&str]| {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(named_folders(origin, value), expected);
        };
        check(Origin::Given, &["/code", "/more", "/torch"]);
        check(Origin::Own, &["/torch"]);
    }

    #[test]
    fn gpus_are_open_where_there_are_any() {
        let folder = tempfile::tempdir().unwrap();
        let gpus = ["dri", "kfd", "nvidia-caps", "nvidia-uvm", "nvidia0", "nvidiactl"];
        for name in ["kmsg", "mem", "nvme0", "sda"].iter().chain(&gpus) {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let check = |gpus: Vec<Gpu>, expected: &[&str]| {
            let machine = Machine { cores: 1, memory_mib: 1, gpus };
            let mut found = gpu_devices(&machine, folder.path());
            found.sort();
            assert_eq!(found, expected.iter().map(|name| folder.path().join(name)).collect::<Vec<_>>());
        };
        check(vec![Gpu { index: 0, name: "H200".to_owned(), memory_mib: 1 }], &gpus);
        check(Vec::new(), &[]);
    }

    #[test]
    fn a_home_is_not_readable_because_python_lies_in_it() {
        let home = env::home_dir().unwrap();
        for prefix in [home.clone(), home.join(".local")] {
            let folders = own_folders(&prefix);
            assert!(folders.iter().all(|folder| folder.parent() == Some(&prefix)), "{folders:?}");
        }
    }
}
