//! Messages to a worker that confine its scripts: each part of a [`Confinement`] is a field `NAME=VALUE`.

use std::ffi::{CString, OsString};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStringExt;

use crate::spawn::{Confinement, Mounts, Namespaces, OOM_SCORE_ADJ, ShownPath};

/// The fields for the namespaces of a worker's scripts, which are created before a script is known.
pub(super) fn namespace_fields(namespaces: Option<&Namespaces>) -> Vec<OsString> {
    let Some(namespaces) = namespaces else { return Vec::new() };
    let [users, groups] = &namespaces.users;
    let mut fields = vec![
        field("namespaces", namespaces.flags().to_string()),
        field("uid_map", users),
        field("gid_map", groups),
    ];
    fields.extend((!namespaces.may_set_groups).then(|| field("setgroups", "deny")));
    fields
}

/// The fields for everything else that confines one script. The descriptors that they name are sent with the message, in this
/// order.
pub(super) fn script_fields(confinement: &Confinement) -> Vec<OsString> {
    let mut fields = confinement.namespaces.as_ref().map(mount_fields).unwrap_or_default();
    fields.extend(descriptors(confinement).map(|(name, _)| field("descriptor", name)));
    let limit = |(resource, soft, hard): &_| field("limit", format!("{} {soft} {hard}", *resource as u32));
    fields.extend(confinement.limits.iter().map(limit));
    for (path, access) in confinement.rules.iter().flat_map(|rules| &rules.late) {
        fields.push(field("late", [access.to_string().as_bytes(), b" ", path.as_bytes()].concat()));
    }
    fields.extend(confinement.drops_privileges.then(|| field("drop-privileges", OOM_SCORE_ADJ)));
    fields
}

/// The descriptors that confine a script, with their names.
pub(super) fn descriptors(confinement: &Confinement) -> impl Iterator<Item = (&'static str, RawFd)> {
    let ruleset = confinement.rules.as_ref().map(|rules| ("ruleset", rules.ruleset.as_raw_fd()));
    let cgroup = confinement.cgroup.as_ref().map(|file| ("cgroup", file.as_raw_fd()));
    ruleset.into_iter().chain(cgroup)
}

/// The fields for the mounts, limits and kernel settings in the namespaces of one script.
fn mount_fields(namespaces: &Namespaces) -> Vec<OsString> {
    let all = |name: &'static str, paths: &[CString]| {
        paths.iter().map(|path| field(name, path.as_bytes())).collect::<Vec<_>>()
    };
    let Mounts { writable, hidden, parents, links, temporary, shown } = &namespaces.mounts;
    let mut fields = all("writable", writable);
    fields.extend(all("hidden", hidden));
    fields.extend(all("temporary", temporary.as_slice()));
    fields.extend(all("parent", parents));
    for (target, link) in links {
        fields.extend([field("link-target", target.as_bytes()), field("link", link.as_bytes())]);
    }
    for ShownPath { path, is_folder, .. } in shown {
        fields.push(field(if *is_folder { "shown-folder" } else { "shown-file" }, path.as_bytes()));
    }
    fields.extend(all("shared-memory", namespaces.shared_memory.as_slice()));
    fields.extend(namespaces.process_ids.iter().map(|most| field("process-ids", most)));
    fields.extend(all("kernel-setting", &namespaces.kernel_settings));
    fields
}

/// `NAME=VALUE`.
pub(super) fn field(name: &str, value: impl AsRef<[u8]>) -> OsString {
    let mut field = format!("{name}=").into_bytes();
    field.extend_from_slice(value.as_ref());
    OsString::from_vec(field)
}
