// A worker of examples/own-engine with the agents of the scenarios: node own-engine-worker.ts <folder> <name>
import { createScenarioRunner } from "keelson/testing/engines";
import { workDueSessions } from "../examples/own-engine/due-table.ts";
import { openScenarios } from "./own-engine-services.ts";

const [folder = ".", name = "worker"] = process.argv.slice(2);
const { services, table } = openScenarios(folder);
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
await workDueSessions(table, createScenarioRunner(services), name, ending.signal);
