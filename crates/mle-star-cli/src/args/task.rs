//! Options that say what the task is: one for each key of a task.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use mle_star_domain::config::{Form, Key};
use mle_star_domain::task::TaskKeys;
use mle_star_run::settings::Setting;

/// Keys of the task with the texts that set them. What no option sets is inferred from the data.
#[derive(Clone, Debug, Default)]
pub struct TaskArgs(Vec<(&'static Key, String)>);

impl TaskArgs {
    /// The keys with these names, with their values. Others are left out.
    pub fn of<'a>(values: impl IntoIterator<Item = (&'a str, String)>) -> Self {
        let known = |(name, value)| Some((TaskKeys::key(name)?, value));
        Self(values.into_iter().filter_map(known).collect())
    }

    /// A setting for each.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        let setting = |(key, value): &(&Key, String)| {
            Setting::from_text(key.name, value, &format!("--{}", option(key)))
        };
        self.0.iter().map(setting)
    }
}

/// The name of a key's option, without the dashes before it.
fn option(key: &Key) -> String {
    key.option_name().replace('_', "-")
}

impl Args for TaskArgs {
    fn augment_args(command: Command) -> Command {
        let argument = |key: &'static Key| {
            let argument = Arg::new(key.option_name()).long(option(key)).value_name(key.placeholder);
            let action = if key.form == Form::List { ArgAction::Append } else { ArgAction::Set };
            argument.short(key.short).help(key.help).action(action)
        };
        command.args(TaskKeys::all().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for TaskArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |key: &'static Key| {
            let values: Vec<String> = matches.get_many(key.option_name())?.cloned().collect();
            Some((key, values.join(",")))
        };
        Ok(Self(TaskKeys::all().filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
