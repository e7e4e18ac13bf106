from biaslab.ranking.workload import chosen_options


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
        options=chosen_options(config, "attribute_values", "distributions", "candidates", "top"),
        seed=config["seed"],
    message:
        "simulate fairness-aware ranking"
    shell:
        "biaslab ranking simulate {params.options} --seed {params.seed} --threads {threads}"
        " --measures {output.measures} --feasibility {output.feasibility} --differences {output.differences}"
        " > {log} 2>&1"


rule compare_rankings:
    output:
        "results/ranking/comparison.tsv",
    log:
        "results/logs/ranking/compare_rankings.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(30),
    params:
        options=chosen_options(config, "attribute_values", "compared_lists", "candidates", "top"),
        seed=config["seed"],
    message:
        "compare all re-ranking algorithms by all measures"
    shell:
        "biaslab ranking compare {params.options} --seed {params.seed} --out {output} > {log} 2>&1"


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
    message:
        "search all small distributions for infeasible rankings"
    shell:
        "biaslab ranking counterexamples --summary {output.summary} --out {output.found} > {log} 2>&1"


rule ranking:
    input:
        rules.simulate_ranking.output,
        rules.compare_rankings.output,
        rules.find_counterexamples.output,
        rules.report_ranking.output,
    message:
        "all tables and figures of fairness-aware ranking"
