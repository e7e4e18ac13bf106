RANKING = config["ranking"]


rule simulate_ranking:
    output:
        measures="results/ranking/simulation.tsv",
        feasibility="results/ranking/feasibility.tsv",
        differences="results/ranking/differences.tsv",
    log:
        "results/logs/ranking/simulate_ranking.log",
    conda:
        ENVIRONMENT
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
        "biaslab step ranking.simulate-ranking --given {params.given:q} --threads {threads} > {log} 2>&1"


rule compare_rankings:
    output:
        out="results/ranking/comparison.tsv",
    log:
        "results/logs/ranking/compare_rankings.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(
            seed=config["seed"], **part(RANKING, "attribute_values", "compared_lists", "candidates", "top")
        ),
    message:
        "compare all re-ranking algorithms by all measures"
    shell:
        "biaslab step ranking.compare-rankings --given {params.given:q} > {log} 2>&1"


rule find_counterexamples:
    output:
        summary="results/ranking/enumeration.tsv",
        found="results/ranking/counterexamples.tsv",
    log:
        "results/logs/ranking/find_counterexamples.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(),
    message:
        "search all small distributions for infeasible rankings"
    shell:
        "biaslab step ranking.find-counterexamples --given {params.given:q} > {log} 2>&1"


rule ranking:
    input:
        rules.simulate_ranking.output,
        rules.compare_rankings.output,
        rules.find_counterexamples.output,
        rules.report_ranking.output,
    message:
        "all tables and figures of fairness-aware ranking"
