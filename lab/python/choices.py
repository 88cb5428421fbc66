"""Rules of the final choice where held-out rows contradict the best validation score, in simulated searches.

choices.py      prints tables (a minute); it needs numpy alone

A search has K solutions of true quality q. Validation adds noise that all share, noise of each solution's own (0.3), and for
leaking solutions a gain that is not there; their true quality is worse. Half of the held-out rows has 3.4 times the noise, since it has
a twelfth of the rows. Later rows may be harder for all. Where held-out rows are one period, each solution has luck with it. The spread
of q is 1, or 0.3 where solutions are much alike. Regret is how much worse the chosen solution is than the best one.
"""

import numpy as np

OWN, SHARED, RATIO, SEARCHES = 0.3, 3.0, 3.4, 4000
WORLDS = {
    "nothing leaks": {},
    "the best leaks": {"leaks": "best"},
    "half leaks": {"leaks": "half"},
    "nothing leaks, later rows are harder": {"harder": 3.0},
    "half leaks, later rows are harder": {"leaks": "half", "harder": 3.0},
    "nothing leaks, one period": {"period": 0.5},
    "half leaks, one period": {"leaks": "half", "period": 0.5},
}


def search(rng, count, spread, leaks=None, harder=0.0, period=0.0):
    quality, leaking = rng.normal(0, spread, count), np.zeros(count, bool)
    if leaks == "best":
        leaking[rng.integers(count)] = True
    elif leaks == "half":
        leaking = rng.random(count) < 0.5
    quality = np.where(leaking, quality - rng.uniform(0.5, 3) * spread, quality)
    gain = np.where(leaking, rng.uniform(2, 8) * spread + 3 * OWN, 0)

    def score(noise, shock):
        common = rng.normal(0, SHARED * noise) + rng.normal(0, 3 * shock)
        return quality + common + rng.normal(0, noise, count) + rng.normal(0, shock, count)

    validated = score(OWN, period / np.sqrt(5)) + gain
    held_out = score(OWN * RATIO, period) - harder
    of_gap = np.hypot(1, SHARED) * max(np.hypot(OWN, OWN * RATIO), np.sqrt(1.2) * period)
    by_rows, by_period = np.sqrt(2) * OWN, np.sqrt(2) * period
    return quality, validated, held_out, of_gap, by_rows, max(by_rows * RATIO, by_period)


def chosen(validated, held_out, of_rows, error):
    """What each rule takes."""
    order, lucky = np.argsort(-validated), int(held_out.argmax())
    gaps = validated - held_out
    usual = np.sort(gaps)[(len(gaps) - 1) // 4]
    close = [one for one in order if held_out[lucky] - held_out[one] <= error]
    clean = [one for one in close if gaps[one] - usual <= 2 * np.hypot(error, of_rows)]
    return {
        "validation": order[0],
        "best on held-out rows (before)": lucky,
        "within one error, validation": close[0],
        "the same, odd gaps last (now)": (clean or close)[0],
    }


def main():
    rules = list(chosen(np.array([1.0, 0]), np.array([0.0, 1]), 1, 1))
    print("| searches | solutions | spread | contradicted | " + " | ".join(rules) + " |")
    print("|---|---:|---:|---:|" + "---:|" * len(rules))
    for name, world in WORLDS.items():
        for count, spread in ((15, 1.0), (40, 1.0), (15, 0.3)):
            rng, regrets = np.random.default_rng(7), []
            for _ in range(SEARCHES):
                quality, validated, held_out, of_gap, of_rows, error = search(rng, count, spread, **world)
                best = validated.argmax()
                if validated[best] - held_out[best] > 2 * of_gap:
                    taken = chosen(validated, held_out, of_rows, error)
                    regrets.append([quality.max() - quality[taken[rule]] for rule in rules])
            means = " | ".join(f"{mean:.2f}" for mean in np.mean(regrets, axis=0))
            print(f"| {name} | {count} | {spread} | {len(regrets) / SEARCHES:.0%} | {means} |")


main()
