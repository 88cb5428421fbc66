//! Where the models come from: the web, what the retriever knows, rules, or the user.

use mle_star::event::Event;
use mle_star::journal::Frozen;
use mle_star::result::Phase1Result;
use mle_star::stop::Stop;
use mle_star::testing::{World, frozen};
use mle_star_domain::answers::{Retrieval, RetrievedModel};
use mle_star_domain::config::{AgentsChoice, Switch};
use mle_star_domain::effects::{AgentReply, Lookup, Usage};

use crate::run;

const MODELS: &str = r#"{"models": [{"model_name": "a", "example_code": "c", "sources": ["https://a.org/x"]},
                                    {"model_name": "b", "example_code": "c"}]}"#;

fn lookup(failure: Option<&str>) -> Lookup {
    Lookup { tool: "WebSearch".to_owned(), what: "a query".to_owned(), failure: failure.map(str::to_owned) }
}

/// The retriever answers after these lookups.
fn searched(lookups: Vec<Lookup>) -> World {
    World::new().reply("phase1/retriever", AgentReply { lookups, ..AgentReply::text(MODELS) })
}

fn search_off() -> Frozen {
    let mut inputs = frozen();
    inputs.config.search = Switch::Off;
    inputs
}

fn offline(mut inputs: Frozen) -> Frozen {
    inputs.config.agents = AgentsChoice::Offline;
    inputs
}

/// These models are given; M is 2.
fn by_hand(names: &[&str]) -> Frozen {
    let model = |name: &&str| RetrievedModel {
        model_name: (*name).to_owned(),
        example_code: "fit()".to_owned(),
        sources: Vec::new(),
    };
    Frozen { retrieved_models: Some(names.iter().map(model).collect()), ..frozen() }
}

fn asked(world: &World) -> Vec<String> {
    world.trace().into_iter().filter(|place| place.starts_with("phase1/retriever")).collect()
}

/// The warnings about the retrieval itself.
fn warnings(world: &World) -> Vec<String> {
    let warning = |event| match event {
        Event::Warning { place, text, .. } if place.as_str() == "phase1" => Some(text),
        _ => None,
    };
    world.events().into_iter().filter_map(warning).collect()
}

async fn phase1(world: &World, inputs: &Frozen) -> Phase1Result {
    run(world, inputs).await.unwrap().result.phase1
}

#[tokio::test]
async fn a_run_says_where_its_models_come_from() {
    use Retrieval::{File, Knowledge, Rules, Web};
    let check = async |world: World, inputs: Frozen, retrieval, calls: &[&str], warning: Option<&str>| {
        let result = phase1(&world, &inputs).await;
        assert_eq!(result.retrieval, retrieval, "{warning:?}");
        assert_eq!(result.candidate_solutions.len(), result.retrieved_models.len());
        assert_eq!(asked(&world), calls, "{warning:?}");
        let given = warnings(&world);
        assert_eq!(given.len(), usize::from(warning.is_some()), "{given:?} / {warning:?}");
        assert!(
            given.iter().all(|text| text.contains(warning.unwrap_or_default())),
            "{given:?} / {warning:?}"
        );
    };
    let (once, twice) = (["phase1/retriever"], ["phase1/retriever", "phase1/retriever-2"]);
    let dead = || World::new().agent_fails("phase1/retriever");
    check(searched(vec![lookup(None)]), frozen(), Web, &once, None).await;
    check(searched(vec![lookup(Some("busy")), lookup(None)]), frozen(), Web, &once, None).await;
    let failed = searched(vec![lookup(Some("no such tool")); 2]);
    check(failed, frozen(), Knowledge, &once, Some("every web search failed: no such tool")).await;
    check(searched(vec![]), frozen(), Knowledge, &once, Some("no web search")).await;
    check(dead(), frozen(), Knowledge, &twice, Some("(the agent died); it is asked again without")).await;
    check(searched(vec![]), search_off(), Knowledge, &once, None).await;
    check(searched(vec![]), offline(frozen()), Rules, &once, None).await;
    check(searched(vec![]), offline(search_off()), Rules, &once, None).await;
    check(dead(), by_hand(&["a", "b"]), File, &[], None).await;
    check(dead(), offline(by_hand(&["a", "b"])), File, &[], None).await;
    check(dead(), by_hand(&["a"]), File, &[], Some("retrieved_models holds 1 of 2 models")).await;
    check(dead(), by_hand(&["a", "b", "c"]), File, &[], Some("the first 2 are tried")).await;
}

#[tokio::test]
async fn without_search_the_retriever_has_no_tools_and_is_told_so() {
    let check = async |world: World, inputs: Frozen, place: &str, tools: &[&str]| {
        phase1(&world, &inputs).await;
        let request = world.request(place).unwrap();
        assert_eq!(request.tools, tools, "{place}");
        assert_eq!(request.prompt.contains("There is no web search"), tools.is_empty(), "{}", request.prompt);
        assert!(request.schema.is_some());
    };
    let dead = || World::new().agent_fails("phase1/retriever");
    check(World::new(), frozen(), "phase1/retriever", &["WebSearch", "WebFetch"]).await;
    check(dead(), frozen(), "phase1/retriever", &["WebSearch", "WebFetch"]).await;
    check(dead(), frozen(), "phase1/retriever-2", &[]).await;
    check(World::new(), search_off(), "phase1/retriever", &[]).await;
}

#[tokio::test]
async fn a_dead_retriever_ends_the_run_when_there_is_nothing_left_to_try() {
    let check = async |world: World, inputs: Frozen, calls: usize| {
        let Err(Stop::NoSolution(why)) = run(&world, &inputs).await else { panic!("it went on") };
        assert!(why.contains("the agent died"), "{why}");
        assert_eq!(asked(&world).len(), calls);
    };
    let dead = || World::new().agent_fails("phase1/retriever").agent_fails("phase1/retriever-2");
    check(dead(), frozen(), 2).await;
    check(dead(), search_off(), 1).await;
    check(dead(), offline(frozen()), 1).await;
}

#[tokio::test]
async fn what_was_looked_up_stays_with_the_models() {
    let result = phase1(&searched(vec![lookup(None), lookup(Some("busy"))]), &frozen()).await;
    assert_eq!(result.lookups, [lookup(None), lookup(Some("busy"))]);
    let sources: Vec<usize> = result.retrieved_models.iter().map(|model| model.sources.len()).collect();
    assert_eq!((sources, result.retrieved_models[0].sources[0].as_str()), (vec![1, 0], "https://a.org/x"));
    // A call that failed had searched, too.
    let failed = AgentReply { lookups: vec![lookup(None)], ..AgentReply::failed("died", Usage::default()) };
    let result = phase1(&World::new().reply("phase1/retriever", failed), &frozen()).await;
    assert_eq!((result.retrieval, result.lookups), (Retrieval::Knowledge, vec![lookup(None)]));
}

#[tokio::test]
async fn models_given_by_hand_are_what_the_candidates_are_written_for() {
    let world = World::new();
    let result = phase1(&world, &by_hand(&["mine", "yours"])).await;
    let names: Vec<&str> = result.retrieved_models.iter().map(|model| model.model_name.as_str()).collect();
    assert_eq!(names, ["mine", "yours"]);
    assert_eq!(world.request("phase1/candidate-1/init").unwrap().inputs["model_name"], "yours");
}
