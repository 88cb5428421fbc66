"""The settings of a run, made from the program's table of keys: do not edit.

`INSTA_UPDATE=always cargo test -p mle-star-cli reference` writes this file.
"""

from __future__ import annotations

import os
from typing import Any, Literal, TypedDict

#: Settings that are options of the program and no keys of its configuration.
ONLY_OPTIONS = ("config", "jobs", "learn_from")


class Settings(TypedDict, total=False):
    """What a run can be told beside its data: keys of the configuration, and options of `mle-star run`."""

    acceptance: Literal["auto", "paper", "one_sigma"]
    """When a solution replaces the best one."""
    agent_models: dict[str, Any]
    """Models of single agents, such as `agent_models.coder`."""
    agent_timeout_seconds: int | str
    """Time limit of one agent call, in seconds."""
    agents_dir: str | os.PathLike[str]
    """The folder for the calls of `agents: files`. Without it, `agents` in the run folder."""
    blocked_commands: list[str]
    """Shell commands that agents must not run, as parts of a command line."""
    claude_path: str | os.PathLike[str]
    """The `claude` executable. Without it, `claude` on PATH."""
    codex_path: str | os.PathLike[str]
    """The `codex` executable. Without it, `codex` on PATH."""
    config: str | os.PathLike[str]
    """Read settings from this YAML or TOML file."""
    context: Literal["full", "paper"]
    """What the agents are told."""
    ensemble_rounds: int
    """R: ensemble rounds."""
    ensemble_selection: bool | Literal["on", "off"]
    """Whether the predictions of all solutions are combined by weights, as one more ensemble. Agents are asked only to
    check its members for leaks and for subsampling."""
    final_choice: Literal["auto", "validation", "holdout"]
    """What chooses the final solution."""
    folds: str
    """Validate on these folds: a column of the training table, or a CSV file with row IDs and `fold`."""
    group_column: str
    """Keep rows with the same value of this column together in folds and held-out rows."""
    holdout: Literal["auto", "off"] | float
    """Labelled rows that no script sees before the final choice: `auto` (15 % if at least 2,000 rows are labelled),
    `off`, or a share from 0.05 to 0.4."""
    holdout_rows: int
    """The most rows that are held out."""
    id_column: str
    """Use this column as the row ID."""
    ignore_columns: str | list[str]
    """Leave these columns out of the features."""
    inner_loop_steps: int
    """K: attempts at each code block."""
    jobs: int
    """Run this many scripts at once [default: one per GPU, else one]."""
    leakage_check: Literal["each", "accepted"]
    """Which scripts an agent checks for leakage."""
    leakage_gate: Literal["block", "warn", "off"]
    """What becomes of a script in which the program finds a leak before it is scored."""
    learn_from: str | os.PathLike[str] | list[str | os.PathLike[str]]
    """Tell the agents what this earlier run tried, and with what effect."""
    log_file: str | os.PathLike[str]
    """A second log file, which is appended to."""
    log_level: str
    """Level of `logs/mle-star.log`: `ERROR`, `WARN`, `INFO` or `DEBUG`. `DEBUG` also logs prompts and replies, and
    prints log lines on the console."""
    max_budget_usd: float
    """Limit on the cost of agents, in US dollars, exceeded by one call at most. The offline agents cost nothing."""
    max_concurrent_agents: int
    """The most agent calls at once."""
    max_concurrent_scripts: int
    """The most scripts at once on this machine (option `--jobs`); each gets an equal share of cores and GPUs. Without
    it, one per GPU, at least one. 0: all scripts run on runners."""
    max_debug_attempts: int
    """The most repairs of one failing script."""
    memory_limit_mb: int
    """Memory limit of one script with its child processes, in MiB. Without it, 90 % of the machine's memory."""
    metric_file: str | os.PathLike[str]
    """Compute the metric with this Python file."""
    model: str
    """Model of the agents: an alias or a full name. The default is for `claude`; `openai` and `codex` need a name."""
    network: bool | Literal["on", "off"]
    """Network access of scripts."""
    num_parallel_solutions: int
    """L: refinement paths that run side by side."""
    num_retrieved_models: int
    """M: models to try."""
    openai: dict[str, Any]
    """The endpoint of `agents: openai`."""
    outer_loop_steps: int
    """T: ablation studies and refinements on each path."""
    overload_patience_seconds: int | str
    """How long one call waits for an overloaded service, in seconds."""
    permission_mode: str
    """Permission mode of `claude` for agents with tools. With the default, the program itself decides about every use
    of a tool."""
    phase_time_budget: dict[str, Any]
    """Shares of the time in percent. They add up to 100."""
    positive_class: int | str
    """Predict the probability of this label, of two."""
    preset: Literal["default", "paper"]
    """A set of defaults. Keys that you set win over it."""
    prices: dict[str, Any]
    """Prices by model, for agents that do not report their cost."""
    probes: Literal["final", "off"]
    """Whether the final solution is checked before it is submitted: it runs on changed data and with watched fits, to
    see whether its score can be believed."""
    prompts: str | os.PathLike[str]
    """A folder with templates that replace the built-in ones."""
    python: str | os.PathLike[str]
    """The Python interpreter, used as it is: nothing is installed into it. Without it, the program makes an
    environment of its own."""
    retrieved_models: str | os.PathLike[str]
    """A file with models to try, instead of asking the retriever."""
    run_id: str
    """Set the run ID [default: the task's name with date and time]."""
    runner: str | list[str]
    """Use only this runner of the config file."""
    runners: list[dict[str, Any]]
    """Runners on other machines."""
    script_timeout_seconds: int | str
    """Time limit of one script, in seconds. Without it, a script may use the time that is left in its phase."""
    search: bool | Literal["on", "off"]
    """Whether the retriever searches the web."""
    search_blocked_domains: list[str]
    """Domains, with or without a path, that the retriever must not read. Without them, the discussion and code pages
    of the competition."""
    search_command: list[str]
    """The program that searches the web for `agents: openai`, with its arguments."""
    seed: int
    """The seed of the held-out rows, of the folds and the sample that agents are told to use, and of the scripts of
    the offline agents. Answers of language models do not depend on it."""
    sheet: str
    """Read this sheet of Excel files [default: the first]."""
    subsample_limit: int
    """The most training rows that scripts use before finalization."""
    test_share: float
    """Predict this share of the rows of a single table [default: 0.2]."""
    time_column: str
    """Use this column as the time of each row: later rows are predicted from earlier ones."""
    time_limit_seconds: int | str
    """Wall-clock limit of the run, in seconds, without interruptions. The search stops when a tenth is left, or
    earlier if the last run on all rows needs more, at most half."""
    warm_start: bool | Literal["on", "off"]
    """Whether scripts start in a process that has already imported their libraries."""
    weight_column: str
    """Use this column as the weight of each row in the metric."""
