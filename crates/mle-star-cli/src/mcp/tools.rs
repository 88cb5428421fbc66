//! The tools, with their names, inputs and outputs.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use mle_star_domain::trouble::Trouble;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::answer::{Answer, failed};
use super::caller::Caller;
use super::{Hub, check, doctor, preview, results, start, steer, stop, watch};

type Outcome = Result<Value, Trouble>;
type Call = dyn Fn(Arc<Hub>, Value, Caller) -> BoxFuture<'static, Outcome> + Send + Sync;

/// A tool.
pub struct Tool {
    pub name: &'static str,
    /// As clients see it.
    pub definition: Value,
    call: Box<Call>,
}

/// All tools, in the order in which an agent uses them.
pub fn all() -> Vec<Tool> {
    let reads = || json!({"readOnlyHint": true, "openWorldHint": false});
    let acts = || json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true});
    let ends = json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": true});
    vec![
        Tool::quick("preview", preview::ABOUT, reads(), preview::preview),
        Tool::quick("run", start::ABOUT, acts(), start::run),
        Tool::waiting("watch", watch::ABOUT, reads(), watch::watch),
        Tool::quick("result", results::ABOUT_RESULT, reads(), results::result),
        Tool::quick("show", results::ABOUT_SHOW, reads(), results::show),
        Tool::quick("list", results::ABOUT_LIST, reads(), results::list),
        Tool::waiting("stop", stop::ABOUT, ends, stop::stop),
        Tool::quick("resume", start::ABOUT_RESUME, acts(), start::resume),
        Tool::quick("note", steer::ABOUT_NOTE, acts(), steer::note),
        Tool::quick("fork", steer::ABOUT_FORK, acts(), steer::fork),
        Tool::quick("check", check::ABOUT, reads(), check::check),
        Tool::quick("doctor", doctor::ABOUT, reads(), doctor::doctor),
    ]
}

impl Tool {
    /// A tool that answers as soon as it can. It works on a thread where it may block.
    fn quick<I, O>(
        name: &'static str,
        about: &'static str,
        annotations: Value,
        work: fn(&Hub, I) -> Result<Answer<O>, Trouble>,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
    {
        let call = move |hub: Arc<Hub>, arguments: Value, _: Caller| -> BoxFuture<'static, Outcome> {
            Box::pin(async move {
                let input = parsed(arguments)?;
                let done = tokio::task::spawn_blocking(move || work(&hub, input)).await;
                done.map_err(|_| bug())?.map(Answer::into_result)
            })
        };
        Self { name, definition: definition::<I, O>(name, about, annotations), call: Box::new(call) }
    }

    /// A tool that waits, and notices when its caller leaves.
    fn waiting<I, O, F>(
        name: &'static str,
        about: &'static str,
        annotations: Value,
        work: fn(Arc<Hub>, I, Caller) -> F,
    ) -> Self
    where
        I: DeserializeOwned + JsonSchema + Send + 'static,
        O: Serialize + JsonSchema + Send + 'static,
        F: Future<Output = Result<Answer<O>, Trouble>> + Send + 'static,
    {
        let call = move |hub: Arc<Hub>, arguments: Value, caller: Caller| -> BoxFuture<'static, Outcome> {
            Box::pin(async move { work(hub, parsed(arguments)?, caller).await.map(Answer::into_result) })
        };
        Self { name, definition: definition::<I, O>(name, about, annotations), call: Box::new(call) }
    }

    /// Performs a call. Every error is one of the tool, which the model reads.
    pub fn call(
        &self,
        hub: Arc<Hub>,
        arguments: Value,
        caller: Caller,
    ) -> impl Future<Output = Value> + use<> {
        let work = (self.call)(hub, arguments, caller);
        async { work.await.unwrap_or_else(|trouble| failed(&trouble)) }
    }
}

fn parsed<I: DeserializeOwned>(arguments: Value) -> Result<I, Trouble> {
    serde_json::from_value(arguments).map_err(|error| {
        Trouble::new(format!("invalid arguments: {error}"), "see the input schema of this tool")
    })
}

fn bug() -> Trouble {
    Trouble::new("internal error", "this is a bug in mle-star, please report it with the call")
}

fn definition<I: JsonSchema, O: JsonSchema>(
    name: &'static str,
    about: &'static str,
    annotations: Value,
) -> Value {
    let input = schema::<I>(SchemaSettings::draft2020_12());
    let mut output = schema::<O>(SchemaSettings::draft2020_12().for_serialize());
    output.values_mut().for_each(without_explained_words);
    let mut definition = json!({
        "name": name,
        "description": about,
        "inputSchema": input,
        "outputSchema": output,
    });
    definition["annotations"] = annotations;
    definition
}

/// The schema of an object, with everything in one place: some clients do not resolve references.
fn schema<T: JsonSchema>(settings: SchemaSettings) -> Map<String, Value> {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    without_formats(&mut schema);
    let Value::Object(mut schema) = schema.to_value() else { return Map::new() };
    // They name the Rust type.
    for noise in ["$schema", "title", "description"] {
        schema.remove(noise);
    }
    // Some clients require it of every object.
    schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    schema
}

/// Lists the words that a value can be, without what each of them means: answers show that, and schemas fill an agent's
/// context.
fn without_explained_words(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let choices = fields.get("oneOf").and_then(Value::as_array);
            let words: Option<Vec<Value>> = choices
                .and_then(|choices| choices.iter().map(|choice| choice.get("const").cloned()).collect());
            if let Some(words) = words {
                fields.remove("oneOf");
                fields.insert("enum".to_owned(), words.into());
            }
            fields.values_mut().for_each(without_explained_words);
        }
        Value::Array(items) => items.iter_mut().for_each(without_explained_words),
        _ => {}
    }
}

/// Removes formats such as `uint64`, which are Rust's and not JSON's.
fn without_formats(schema: &mut Schema) {
    schema.remove("format");
    transform_subschemas(&mut without_formats, schema);
}
