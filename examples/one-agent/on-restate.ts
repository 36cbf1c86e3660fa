// A worker for Restate: node on-restate.ts <address of its ingress> <its own port>
const [ingress = "http://localhost:8080", given = "9080"] = process.argv.slice(2);
const port = Number(given);

// #region restate
import { createRestateOrchestrator, serveRestate } from "@keelson/restate";
import { createRunner } from "keelson";
import { createSqliteEventLog } from "keelson/state";
import { clerk } from "./clerk.ts";

const log = createSqliteEventLog("sessions.db");
const runner = createRunner({ agent: clerk, log, orchestrator: createRestateOrchestrator({ ingress }) });
const { url } = await serveRestate(runner, { port }); // then: restate deployments register http://localhost:9080
// #endregion
console.log(`serving ${url}`);
