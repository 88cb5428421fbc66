//! Words about metrics and their evaluation.

/// Metrics that have no formula here, or whose name leaves something open, as [`super::mention`] sees them.
pub(super) const NAMED: &[&str] = &[
    "map",
    "mean average precision",
    "ndcg",
    "dcg",
    "normalized discounted cumulative gain",
    "normalised discounted cumulative gain",
    "discounted cumulative gain",
    "mrr",
    "mean reciprocal rank",
    "reciprocal rank",
    "iou",
    "miou",
    "mean iou",
    "intersection over union",
    "mean intersection over union",
    "jaccard",
    "jaccard index",
    "jaccard score",
    "jaccard similarity",
    "jaccard coefficient",
    "jaccard similarity coefficient",
    "dice",
    "dice coefficient",
    "dice score",
    "word error rate",
    "wer",
    "character error rate",
    "cer",
    "levenshtein distance",
    "levenshtein",
    "edit distance",
    "bleu",
    "bleu score",
    "rouge",
    "rouge l",
    "crps",
    "continuous ranked probability score",
    "ranked probability score",
    "rps",
    "energy score",
    "interval score",
    "winkler score",
    "winkler interval score",
    "winkler",
    "pinball loss",
    "pinball",
    "pinball score",
    "quantile loss",
    "quantile score",
    "concordance index",
    "c index",
    "concordance",
    "perplexity",
    "hamming loss",
    "hamming score",
    "hamming distance",
    "hinge loss",
    "huber loss",
    "huber",
    "tweedie deviance",
    "poisson deviance",
    "gamma deviance",
    "deviance",
    "wape",
    "wmape",
    "mase",
    "rmsse",
    "wrmsse",
    "rmspe",
    "gini",
    "gini coefficient",
    "gini index",
    "gini score",
    "lift",
    "ks statistic",
    "kolmogorov smirnov statistic",
    "kappa",
    "cohen s kappa",
    "cohen kappa",
    "kappa score",
    "linear weighted kappa",
    "kendall tau",
    "kendall s tau",
    "kendall tau correlation",
    "kendall rank correlation",
    "f2",
    "f2 score",
    "f0.5",
    "f0.5 score",
    "f beta",
    "f beta score",
    "fbeta",
    "fbeta score",
    "f score",
    "f measure",
    "precision",
    "recall",
    "sensitivity",
    "specificity",
    "g mean",
    "hit rate",
    "psnr",
    "ssim",
    "cosine similarity",
    "haversine distance",
    "exact match",
    "error rate",
    "misclassification rate",
    "misclassification error",
    "classification error",
    "zero one loss",
    "log likelihood",
    "negative log likelihood",
    "mean bias error",
    "explained variance",
    "explained variance score",
    "brier skill score",
    "skill score",
    "correlation",
    "correlation coefficient",
    "overlap",
    "mean squared logarithmic error",
    "msle",
    "medape",
    "mpe",
    "mean percentage error",
    "mean column wise auc",
    "mcrmse",
    "mcauc",
    "area under the curve",
    "partial auc",
    "pauc",
    "auc at",
    "eer",
    "equal error rate",
    "detection error rate",
    "d prime",
    "laplace log likelihood",
    "absolute error",
    "squared error",
    "percentage error",
    "quadratic loss",
    "logarithmic score",
    "log score",
    "spherical score",
    "top 1 accuracy",
    "top 5 accuracy",
    "top k accuracy",
    "top 3 accuracy",
    "edit similarity",
    "anls",
    "tm score",
    "gdt ts",
    "rmsd",
    "medal score",
    "elo",
    "sharpe ratio",
    "information coefficient",
    "nse",
    "nash sutcliffe efficiency",
    "kling gupta efficiency",
    "kge",
    "theil s u",
    "nrmse",
    "cvrmse",
    "cv rmse",
];

/// Words that end the name of a metric, if words before say which.
pub(super) const HEADS: &str = "score scores error errors loss losses index coefficient distance deviation divergence similarity \
    rate metric measure statistic likelihood ratio entropy regret reward accuracy precision recall auc \
    kappa correlation f1 rmse mae mse r2 deviance efficiency";

/// Words before the name of a metric that change nothing.
pub(super) const HARMLESS: &str = "classification categorization multiclass multi class binary overall mean average averaged standard \
    simple simply plain usual popular well known common commonly used widely official final resulting \
    total raw achieved predicted test hidden private public leaderboard following same single sample \
    prediction predictive label lowest smallest highest best largest greatest large small minimum \
    maximum minimal maximal high low good scikit learn sklearn so called familiar classical classic \
    traditional conventional ordinary corresponding obtained computed calculated pure basic main primary \
    sole only solely two evaluation metric competition performance quality lower higher smaller larger \
    good forecast model regression out unseen their s resultant respective competition's submission \
    submissions unweighted first new one score actual just also directly statistical current regular \
    typical typically often estimated measured reported established bare mere root true";

/// Words that end a noun phrase to the left of a metric.
pub(super) const BOUNDARIES: &str = "the a an this that these those its their your our his on by using with of for in via as to from \
    under through between at per into about upon based according is are was were be been being will \
    would can may should must shall has have had does do did equals equal use uses used employ employs \
    minimize minimise minimizes minimises minimizing minimising maximize maximise maximizes maximises \
    maximizing maximising optimize optimise optimizes called named calculate calculates compute computes \
    evaluate evaluates measure measures report reports show shows and or but than not nor yet so because \
    since while if when where which what who whose it we you they i there here both either neither only \
    then now instead rather unlike like e g achieve achieves get gets have lowers improve improves \
    consider compares considers choose chose take takes adopt adopts mean means i.e namely metric score \
    ist la el le il die der das o es est é è de di der den dem des als nach unter aus auf im zur zum von vom wie usa usar utiliza según mediante utilise selon l secondo tramite durch por par mit con avec da del du \
    della wird un una une eine um nach sur selon pelo pela usando ranked scored judged evaluated graded \
    assessed determined decides";

/// Words before `of` that make another number of a metric.
pub(super) const TRANSFORMS: &str = "sum product root logarithm log square inverse negative difference ratio median variance half \
    reciprocal complement combination percentile quantile skill improvement reduction gain variant \
    modification generalization extension minus harmonic geometric rank change maximum minimum max min \
    worst blend mix mixture function transformation multiple";

/// Verbs about evaluation, which a preposition follows.
pub(super) const VERBS: &str = "evaluated evaluate evaluates scored score scores judged judge judges ranked rank ranks measured \
    measure measures graded grade grades assessed assess assesses compared compare compares rated \
    benchmarked determined gauged quantified evaluation scoring ranking grading assessment marked \
    decided";
/// Words between such a verb and the metric.
pub(super) const PREPOSITIONS: &str =
    "by on using with via through according based terms under uses use against employs follows";
/// Words that mean an evaluation metric.
pub(super) const METRIC_WORDS: &str = "metric metrics criterion criteria leaderboard merit score metrik metrica métrica métrique metriek \
    metryka метрика scoring";
/// Words for what has the best value.
pub(super) const OPTIMIZED: &str = "minimize minimise minimized minimised minimizing minimising maximize maximise maximized maximised \
    maximizing maximising wins winner win counts decides optimize optimise optimized optimised";
/// Words for what is evaluated, or for the evaluation of this task.
pub(super) const SUBMISSIONS: &str = "submission submissions submitted entry entries prediction predictions forecast forecasts solution \
    solutions participant participants team teams competitor competitors your you competition challenge \
    leaderboard official contest task results answers estimates model models contestants entrants work \
    hackathon everybody everyone output outputs response responses guesses ranking winner performance \
    result classifier regressor predictor files file they quality it probabilities";

/// Words about other evaluations than that of this task's submissions.
pub(super) const ELSEWHERE: &str = "paper papers et published baseline baselines benchmark literature authors historically originally \
    original previous previously earlier former formerly prior past experts physicians doctors reviewers \
    article colleagues";
/// Those of them that are about other evaluations only before these words.
pub(super) const FORMER: &str = "original previous past prior earlier former";
pub(super) const FORMERLY: &str = "work works study studies paper papers publication research article authors challenge \
    challenges competition competitions contest edition editions year years round rounds season approach approaches \
    method methods model models results was were we";
/// Those of them that may be people of the data.
pub(super) const PEOPLE: &str = "authors experts physicians doctors reviewers colleagues";
/// Pairs of words of the same kind.
pub(super) const ELSEWHERE_PAIRS: &[(&str, &str)] = &[
    ("in", "contrast"),
    ("by", "contrast"),
    ("last", "year"),
    ("last", "time"),
    ("last", "season"),
    ("last", "edition"),
    ("first", "stage"),
    ("first", "round"),
    ("first", "phase"),
    ("stage", "1"),
    ("stage", "one"),
    ("phase", "1"),
    ("phase", "one"),
    ("round", "1"),
    ("round", "one"),
    ("qualifying", "round"),
    ("loss", "function"),
    ("objective", "function"),
    ("train", "with"),
    ("trained", "with"),
    ("training", "with"),
    ("train", "on"),
    ("trained", "on"),
    ("training", "loss"),
    ("training", "objective"),
    ("training", "metric"),
    ("fitted", "with"),
    ("early", "stopping"),
    ("for", "training"),
    ("tuned", "with"),
    ("tuned", "on"),
    ("state", "of"),
    ("used", "to"),
    ("cross", "validation"),
    ("warm", "up"),
    ("practice", "round"),
    ("pilot", "phase"),
    ("other", "competitions"),
    ("other", "tasks"),
];
/// Words about what is shown but does not decide.
pub(super) const SECONDARY: &str = "secondary additional additionally auxiliary supplementary informational informative information \
    reference curiosity diagnostic complementary interest";
/// Words after a metric that say it does not count.
pub(super) const DISMISSED: &str = "misleading unsuitable ignored irrelevant inappropriate meaningless useless dropped insufficient \
    uninformative discouraged deceptive abandoned retired replaced obsolete poor";

/// Logarithms.
pub(super) const LOGS: &str =
    "log logs logarithm logarithms logarithmic logged ln log1p log10 logarithmically";
/// Words after `log` whose logarithm is not taken: they are logarithms.
pub(super) const NOT_LOGS: &str = "loss likelihood odds return returns ratio ratios file files fold";
