//! Which paths a child may use, as a Landlock ruleset.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    Scope, path_beneath_rules,
};

use super::access::Access;
use super::layers::{Layers, Network};
use crate::spawn::{Rules, TMP};

/// The newest version whose rights are used. Each of them is tested.
const MAX_ABI: ABI = ABI::V6;

impl Access {
    /// The ruleset; `None` if the kernel has no Landlock.
    ///
    /// # Errors
    /// The kernel has Landlock but cannot create a ruleset, because memory or file descriptors ran out. Without it the
    /// child would lack a layer that is reported as enforced.
    pub(super) fn rules(&self, layers: &Layers, network: Network) -> io::Result<Option<Rules>> {
        let abi = ABI::from(layers.landlock).min(MAX_ABI);
        if abi == ABI::Unsupported {
            return Ok(None);
        }
        // Only without a network namespace: Landlock has no rules for UDP, and it blocks loopback too.
        let closes_tcp = network == Network::Denied && !layers.network && abi >= ABI::V4;
        let all = AccessFs::from_all(abi);
        let read = AccessFs::from_read(abi);
        let failed = |why: String| io::Error::other(format!("cannot create Landlock rules: {why}"));
        let ruleset = self.ruleset(abi, closes_tcp).map_err(|error| failed(error.to_string()))?;
        let ruleset = ruleset.ok_or_else(|| failed("no reason given".to_owned()))?;
        // The child gets its own mounts at these paths.
        let write = (AccessFs::WriteFile | AccessFs::Truncate) & all;
        let proc = if self.opens_proc { read | write } else { read };
        let late = [(c"/dev/shm", all), (c"/proc", proc)];
        let late = late.map(|(path, access)| (CString::from(path), access.bits()));
        let tmp = self.temporary.iter().map(|_| (CString::from(TMP), all.bits()));
        let listed = self.listed.iter().filter_map(|path| CString::new(path.as_os_str().as_bytes()).ok());
        let listed = listed.map(|path| (path, BitFlags::from(AccessFs::ReadDir).bits()));
        Ok(Some(Rules { ruleset, late: late.into_iter().chain(tmp).chain(listed).collect() }))
    }

    fn ruleset(&self, abi: ABI, closes_tcp: bool) -> Result<Option<OwnedFd>, RulesetError> {
        let all = AccessFs::from_all(abi);
        let read = AccessFs::from_read(abi);
        let device = (AccessFs::from_file(abi) & !AccessFs::Execute) | AccessFs::ReadDir;
        let mut ruleset = Ruleset::default().handle_access(all)?;
        if closes_tcp {
            ruleset = ruleset.handle_access(BitFlags::from(AccessNet::ConnectTcp))?;
        }
        if abi >= ABI::V6 {
            ruleset = ruleset.scope(Scope::from_all(abi))?;
        }
        let ruleset = ruleset
            .create()?
            .add_rules(path_beneath_rules(&self.readable, read))?
            .add_rules(path_beneath_rules(["/dev"], AccessFs::ReadDir))?
            .add_rules(path_beneath_rules(&self.devices, device))?
            .add_rules(path_beneath_rules(&self.writable, all))?;
        Ok(ruleset.into())
    }
}
