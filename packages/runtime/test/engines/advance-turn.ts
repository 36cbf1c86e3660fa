// Advances a session of the directory given by one turn, prints what comes next as JSON, and ends. With `--children-apart`, sessions
// that are to be advanced besides are printed before that.
import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { createDurableOrchestrator } from "keelson/orchestration";
import { createScenarioRunner } from "keelson/testing/engines";
import { openSqliteServices } from "./sqlite-services.ts";

const { positionals, values } = parseArgs({ allowPositionals: true, options: { "children-apart": { type: "boolean", default: false } } });
const [directory = "", session = ""] = positionals;
await using services = openSqliteServices(directory);
const say = (line: object): void => void writeSync(1, `${JSON.stringify(line)}\n`);
const orchestrator = createDurableOrchestrator({ runner: () => runner, wake: async (due) => say({ wake: due }) });
const runner = createScenarioRunner({ ...services, ...(values["children-apart"] && { orchestrator }) });
const { next } = await runner.advance(session);
say({ next: next.type === "done" ? { type: "done" } : next });
