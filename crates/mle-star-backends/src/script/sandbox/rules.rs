//! Which paths a script may use, as a Landlock ruleset.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    Scope, path_beneath_rules,
};
use mle_star::config::Switch;

use super::{Access, Layers};
use crate::process::Rules;

/// The newest version whose rights are used: every one of them is tested.
const NEWEST: ABI = ABI::V6;

impl Access {
    /// The ruleset; `None` where the kernel has none.
    ///
    /// # Errors
    /// The kernel has Landlock and gives no ruleset out, for want of memory or of file descriptors: a script that
    /// ran now would run without the layer that is said to hold.
    pub(super) fn rules(&self, layers: &Layers, network: Switch) -> io::Result<Option<Rules>> {
        let abi = ABI::from(layers.landlock).min(NEWEST);
        if abi == ABI::Unsupported {
            return Ok(None);
        }
        // Only where nothing better closes it: it does not know UDP, and takes loopback as well.
        let closes_tcp = network == Switch::Off && !layers.network && abi >= ABI::V4;
        let all = AccessFs::from_all(abi);
        let read = AccessFs::from_read(abi);
        let refused =
            |why: String| io::Error::other(format!("the kernel gives out no Landlock rules: {why}"));
        let ruleset = self.ruleset(abi, closes_tcp).map_err(|error| refused(error.to_string()))?;
        let ruleset = ruleset.ok_or_else(|| refused("it does not say why".to_owned()))?;
        // These are mounted anew for the script.
        let late = [(c"/dev/shm", all), (c"/proc", read)];
        let late = late.map(|(path, access)| (CString::from(path), access.bits()));
        Ok(Some(Rules { ruleset, late: late.into() }))
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
