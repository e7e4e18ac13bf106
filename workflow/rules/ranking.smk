RANKING = config["ranking"]


rule simulate_ranking:
    output:
        measures="results/ranking/simulation.tsv",
        feasibility="results/ranking/feasibility.tsv",
        differences="results/ranking/differences.tsv",
    threads: 1  # half a minute: to wait for more cores would take longer
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(
            seed=config["seed"], **part(RANKING, "attribute_values", "distributions", "candidates", "top")
        ),
    message:
        "simulate fairness-aware ranking"
    shell:
        step("ranking.simulate-ranking")


rule compare_rankings:
    output:
        out="results/ranking/comparison.tsv",
        enumeration="results/ranking/enumeration.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(
            seed=config["seed"], **part(RANKING, "attribute_values", "compared_lists", "candidates", "top")
        ),
    message:
        "compare all re-ranking algorithms by all measures and on all small distributions"
    shell:
        step("ranking.compare-rankings")


rule ranking:
    input:
        rules.simulate_ranking.output,
        rules.compare_rankings.output,
        PLAN.report_files("ranking"),
    message:
        "all tables and figures of fairness-aware ranking"
