// One worker: node worker.ts <folder> <name>. It works until it is told to end, and gives back what it has then.
import { createClerk } from "./clerk.ts";
import { workDueSessions } from "./due-table.ts";
import { openEngine } from "./open-engine.ts";

const [folder = ".", name = "worker"] = process.argv.slice(2);
const { runner, table } = openEngine(folder, createClerk(`${folder}/sent.txt`));
const ending = new AbortController();
process.once("SIGTERM", () => ending.abort());
process.send?.("listening");
await workDueSessions(table, runner, name, ending.signal);
