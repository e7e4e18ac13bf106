# The tables and figures of every area, by one writer. A shell command is put together when it runs: it must not name
# the variable of the loop.
for area in filter(PLAN.has, PLAN.areas):

    rule:
        name:
            f"report_{area.name}"
        input:
            PLAN.report_inputs(area),
        output:
            shown(area),
            PLAN.report_others(area),
        log:
            f"results/logs/{area.name}/report.log",
        resources:
            mem_mb=LIMITS.memory(2000),
            runtime=LIMITS.minutes(30),
        params:
            step=f"{area.command}.report",
            given=given(area=area.name, units=PLAN.described(area), results="results/"),
        message:
            f"write the tables and figures of {area.name.replace('_', ' ')}"
        shell:
            step("{params.step}")
