const [folder = "", ingress = "", portGiven = ""] = process.argv.slice(2);
const port = Number(portGiven);

// #region worker
import { createRunner } from "keelson";
import { createSqliteEventLog } from "keelson/state";
import { createRestateOrchestrator, serveRestate } from "@keelson/restate";
import { clerk } from "./clerk.ts";

const log = createSqliteEventLog({ path: `${folder}/sessions.db` });
const orchestrator = createRestateOrchestrator({ ingress }); // "http://localhost:8080"
const runner = createRunner({ agent: clerk, log, orchestrator });
const endpoint = await serveRestate(runner, { port }); // 9080
process.once("SIGTERM", () => void endpoint.close()); // lets turns end, or go on elsewhere
// #endregion
process.once("SIGTERM", () => void endpoint.close().then(() => process.exit(0)));
console.log(`serving ${endpoint.url}`);
