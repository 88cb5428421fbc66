//! Likely calls are announced to the backend before they are asked.

use mle_star::testing::{World, frozen};
use mle_star_domain::config::Config;
use mle_star_domain::role::AgentType;

use crate::run;

#[tokio::test]
async fn the_calls_of_a_successful_run_are_predicted_except_one() {
    async fn check(change: fn(&mut Config)) {
        let mut inputs = frozen();
        inputs.config = Config::default();
        inputs.config.agent_models.insert(AgentType::Coder, "large".to_owned());
        change(&mut inputs.config);
        let world = World::new();
        run(&world, &inputs).await.unwrap();
        assert_eq!(world.surprises(), ["phase1/retriever"], "{:?}", inputs.config);
    }
    check(|_| ()).await;
    check(|config| config.num_retrieved_models = 1).await;
    check(|config| config.num_retrieved_models = 2).await;
    check(|config| (config.outer_loop_steps, config.inner_loop_steps) = (1, 1)).await;
    check(|config| (config.num_parallel_solutions, config.ensemble_rounds) = (1, 1)).await;
    check(|config| (config.num_parallel_solutions, config.ensemble_rounds) = (3, 2)).await;
}
