//! Which paths a child may use.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::layers::Network;
use crate::machine::Machine;
use crate::variables::ASKED_PYTHONPATH;

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
/// What any program reads in `/etc`, which also holds passwords and keys.
const SETTINGS: [&str; 50] = [
    "alternatives",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
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
    "pki/java",
    "pki/tls/certs",
    "pki/tls/openssl.cnf",
    "pki/tls/openssl.d",
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
/// Targets of `/etc/resolv.conf`.
const RESOLVERS: [&str; 3] = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager"];
/// Devices that store nothing.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Prefixes of the device files of GPUs.
const GPU_DEVICES: [&str; 4] = ["nvidia", "dri", "kfd", "dxg"];
/// Variables that name folders with libraries, models or word lists. Some name several.
const FOLDER_VARIABLES: [&str; 9] = [
    ASKED_PYTHONPATH,
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_PATH",
    "HF_HUB_CACHE",
    "TORCH_HOME",
    "NLTK_DATA",
    "JAVA_HOME",
    "TESSDATA_PREFIX",
];

/// The files that a child may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Access {
    /// Folders in which everything is allowed.
    pub(crate) writable: Vec<PathBuf>,
    /// Folders and files that may be read and executed.
    pub(crate) readable: Vec<PathBuf>,
    /// Folders that may be listed, with all folders in them.
    pub(crate) listed: Vec<PathBuf>,
    /// Device files, and folders of them, that may be read and written.
    pub(crate) devices: Vec<PathBuf>,
    /// The folder that takes the place of `/tmp`, if there is one.
    pub(crate) temporary: Option<PathBuf>,
    /// May what `/proc` shows of processes be written, as far as the kernel allows it?
    pub(crate) opens_proc: bool,
}

impl Access {
    /// The system files that any program needs.
    pub(super) fn any_program() -> Self {
        let settings = SETTINGS.iter().map(|name| Path::new("/etc").join(name));
        let readable = SYSTEM
            .iter()
            .map(PathBuf::from)
            .chain(settings)
            .chain(java_settings(Path::new("/etc")))
            .collect();
        let devices = DEVICES.map(PathBuf::from).into();
        Self { readable, devices, ..Self::default() }
    }

    /// The system, the interpreter `python` with its libraries, and devices. The variables `removed` open no folders.
    pub(super) fn python(python: &Path, removed: &[&str], machine: &Machine, network: Network) -> Self {
        let Self { mut readable, mut devices, .. } = Self::any_program();
        if network == Network::Allowed {
            readable.extend(RESOLVERS.map(PathBuf::from));
        }
        let named = named_folders(removed, |name| env::var_os(name));
        // None of them may open all of HOME.
        let home = env::home_dir().filter(|home| home.is_absolute());
        let holds_home = |path: &Path| home.as_ref().is_some_and(|home| home.starts_with(path));
        let own = python_folders(python).into_iter().chain(named);
        readable.extend(own.filter(|path| path.is_absolute() && !holds_home(path)));
        devices.extend(gpu_devices(machine, Path::new("/dev")));
        Self { readable, devices, ..Self::default() }
    }
}

impl Access {
    /// Without the `closed` folders, which are real paths. Of a readable folder around one, everything else stays
    /// readable; what lies in one stays so too.
    pub(super) fn without(mut self, closed: &[PathBuf]) -> Self {
        for path in std::mem::take(&mut self.readable) {
            let Some(real) = path.canonicalize().ok() else { continue };
            self.open(path, &real, closed);
        }
        self
    }

    fn open(&mut self, path: PathBuf, real: &Path, closed: &[PathBuf]) {
        if !closed.iter().any(|closed| closed.starts_with(real)) {
            return self.readable.push(path);
        }
        if closed.iter().any(|closed| closed == real) {
            return;
        }
        for entry in fs::read_dir(&path).into_iter().flatten().flatten() {
            let inner = entry.path();
            let Ok(target) = inner.canonicalize() else { continue };
            // Links may lead elsewhere.
            if target.starts_with(real) && !closed.iter().any(|closed| target.starts_with(closed)) {
                self.open(inner, &target, closed);
            }
        }
        self.listed.push(path);
    }
}

/// Where systems keep the settings of Java, such as `/etc/java-17-openjdk`; without them it does not start.
fn java_settings(folder: &Path) -> Vec<PathBuf> {
    entries(folder, |name| name.starts_with("java"))
}

/// The folders that variables name; `value` looks a variable up. Those that the child does not inherit count as unset.
fn named_folders(removed: &[&str], value: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let is_kept = |name: &&&str| !removed.contains(name);
    let values = FOLDER_VARIABLES.iter().filter(is_kept).filter_map(|name| value(name));
    values.flat_map(|value| env::split_paths(&value).collect::<Vec<_>>()).collect()
}

/// The paths of an interpreter and its libraries: the executable, its prefix, the prefix of the interpreter it was made
/// from, and what its `.pth` files name.
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

/// The whole prefix, or only its library folders if users keep other files there.
fn own_folders(prefix: &Path) -> Vec<PathBuf> {
    let is_own = ["pyvenv.cfg", "conda-meta"].iter().any(|name| prefix.join(name).exists());
    let home = env::home_dir().unwrap_or_default();
    let is_shared = home.starts_with(prefix) || prefix == home.join(".local");
    if is_own || !is_shared {
        return vec![prefix.to_owned()];
    }
    ["bin", "lib", "lib64", "include"].map(|name| prefix.join(name)).into()
}

/// Source folders of packages in editable installs.
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

/// The device files of GPUs in `folder`; none if the machine has no GPU to use.
fn gpu_devices(machine: &Machine, folder: &Path) -> Vec<PathBuf> {
    if machine.gpus.is_empty() {
        return Vec::new();
    }
    entries(folder, |name| GPU_DEVICES.iter().any(|start| name.starts_with(start)))
}

/// What lies in `folder` under such a name; nothing if it cannot be read.
fn entries(folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).into_iter().flatten().flatten();
    all.filter(|entry| is_wanted(&entry.file_name().to_string_lossy())).map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Gpu;

    #[test]
    fn closed_folders_are_left_out_of_readable_ones() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["project/src", "project/data/images", "project/runs/a", "project/runs/b", "other"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("project/setup.py"), "").unwrap();
        std::os::unix::fs::symlink("../other", root.join("project/link")).unwrap();
        std::os::unix::fs::symlink("data", root.join("project/alias")).unwrap();
        let below = |names: &[&str]| names.iter().map(|name| root.join(name)).collect::<Vec<_>>();
        let check = |readable: &[&str], closed: &[&str], expected: &[&str], listed: &[&str]| {
            let access = Access { readable: below(readable), ..Access::default() };
            let mut found = access.without(&below(closed));
            found.readable.sort();
            assert_eq!((found.readable, found.listed), (below(expected), below(listed)), "{readable:?}");
        };
        let closed = ["project/data", "project/runs/a"];
        check(&["other", "project/src"], &closed, &["other", "project/src"], &[]);
        let rest = ["project/runs/b", "project/setup.py", "project/src"];
        check(&["project"], &closed, &rest, &["project/runs", "project"]);
        check(&["project/data"], &closed, &[], &[]);
        check(&["project/data/images"], &closed, &["project/data/images"], &[]);
    }

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
        // An executable outside a prefix opens nothing around it.
        assert_eq!(python_folders(&root.join("source/x.py")), [root.join("source/x.py")]);
    }

    #[test]
    fn variables_that_children_do_not_inherit_open_nothing() {
        let value = |name: &str| match name {
            ASKED_PYTHONPATH => Some("/code:/more".into()),
            "TORCH_HOME" => Some("/torch".into()),
            _ => None,
        };
        let check = |removed: &[&str], expected: &[&str]| {
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(named_folders(removed, value), expected);
        };
        check(&[], &["/code", "/more", "/torch"]);
        check(&[ASKED_PYTHONPATH], &["/torch"]);
    }

    #[test]
    fn gpus_are_open_if_there_are_any() {
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
