#!/usr/bin/env python3
"""Writes bench/results/chains.json of the figures that measure.py has left, a JSON object a line.

    bench/chains/page.py --device NAME --commit ID --text TEXT --out bench/results/chains.json FIGURES...

scripts/results makes a page of it.
"""
import argparse
import datetime
import json
from pathlib import Path

PLANS = ("unfused", "fused", "auto")
COLUMNS = [["chain", "chain"], ["", "name"], ["type", "type"], ["rows", "rows"], ["parts", "parts"],
           *([plan, plan] for plan in PLANS), ["speed-up", "speed_up"], ["launches", "launches"],
           ["saved %, predicted / measured", "saved"], ["auto % off", "auto_off"],
           ["unfused % off", "unfused_off"], ["right", "right"], ["one kernel, or why not", "said"]]
RIGHT = 1.02  # what `auto` may take of the faster plan's time
CLOSE = 10  # percent that a prediction may be off
COMMAND = "bench/chains/measure.py --tenon build/gpu/bin/tenon --types=f16,bf16,f32 --out=FIGURES"


def percent(predicted, measured):
    return 100 * (predicted - measured) / measured


def saved(record, suffix=""):
    return 100 * (1 - record[f"auto{suffix}"] / record[f"unfused{suffix}"])


def judge(record):
    """Whether `auto` is right: as fast as the faster plan, or that very plan on another occasion."""
    best = min(("unfused", "fused"), key=lambda plan: record[plan])
    if record["auto"] <= RIGHT * record[best]:
        return "yes"
    return "same plan" if record["auto_launches"] == record[f"{best}_launches"] else "**no**"


def cells(record):
    """What a page says of a chain, as text."""
    said = record["fused_chains"] or record["refused"][:1] or ["one operation"]
    return {**{key: record[key] for key in ("chain", "name", "type", "rows")},
            "parts": f"{record['parts']:.2f}" if "parts" in record else "",
            **{plan: f"{record[plan]:.2f}" for plan in PLANS},
            "speed_up": f"{record['unfused'] / record['auto']:.2f}",
            "launches": f"{record['unfused_launches']:.0f} / {record['auto_launches']:.0f}",
            "saved": f"{saved(record, '_predicted'):.0f} / {saved(record):.0f}",
            "auto_off": f"{percent(record['auto_predicted'], record['auto']):+.0f}",
            "unfused_off": f"{percent(record['unfused_predicted'], record['unfused']):+.0f}",
            "right": judge(record), "said": "; ".join(said)}


def summarise(records):
    """How often the decisions are right and the predictions close, by type and rows."""
    groups = {}
    for record in records:
        groups.setdefault((record["type"], record["rows"]), []).append(record)
    for (element, rows), group in sorted(groups.items()):
        off = {plan: [abs(percent(record[f"{plan}_predicted"], record[plan])) for record in group]
               for plan in PLANS}
        lost = [record["auto"] / min(record["unfused"], record["fused"]) for record in group]
        close = [sum(each <= CLOSE for each in off[plan]) for plan in PLANS]
        gains = [abs(saved(record, "_predicted") - saved(record)) for record in group]
        yield {"type": element, "rows": rows, "chains": len(group),
               "right": sum(judge(record) == "yes" for record in group),
               "wrong": sum(judge(record) == "**no**" for record in group),
               "worst": f"{max(lost):.2f}",
               "close": " / ".join(map(str, close)),
               "gains": sum(each <= CLOSE for each in gains),
               "fused": sum(bool(record["fused_chains"]) for record in group),
               "silent": sum(not record["fused_chains"] and not record["refused"]
                             and record["unfused_launches"] > 1 for record in group)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("device", "commit", "out"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--text", default="", help="what a reader must know beside")
    parser.add_argument("--date", default=datetime.date.today().isoformat())
    parser.add_argument("figures", nargs="+", type=Path)
    options = parser.parse_args()
    records = [json.loads(line) for path in options.figures
               for line in path.read_text(encoding="utf-8").splitlines()]
    records.sort(key=lambda record: (record["type"], record["rows"], record["chain"]))
    run = {"title": "Chains that users write, fused and not", "date": options.date,
           "device": options.device, "commit": options.commit, "command": COMMAND,
           "text": options.text, "tables": [
               {"caption": f"By type and rows: `right` is how many take at most {RIGHT} of the faster "
                           f"of the other plans under `auto`, `wrong` how many more and are another "
                           f"plan than that, `worst` the longest over the faster, `close` of how many the predicted time "
                           f"of {', '.join(PLANS)} is within {CLOSE} %, `gain close` of how many what "
                           f"is predicted to be saved is within {CLOSE} points of what is; `silent` "
                           "are chains of several kernels of which nothing is said:",
                "columns": [["type", "type"], ["rows", "rows"], ["chains", "chains"],
                            ["fused", "fused"], ["right", "right"], ["wrong", "wrong"], ["worst", "worst"],
                            ["close", "close"], ["gain close", "gains"], ["silent", "silent"]],
                "records": list(summarise(records))},
               {"caption": "µs a chain:", "columns": COLUMNS,
                "records": [cells(record) for record in records]}]}
    Path(options.out).write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n",
                                 encoding="utf-8")


if __name__ == "__main__":
    main()
