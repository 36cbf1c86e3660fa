// A worker for Restate: node on-restate.ts <address of its ingress>
const [ingress = "http://localhost:8080"] = process.argv.slice(2);

// #region restate
import { createRestateOrchestrator, serveRestate } from "@keelson/restate";
import { createRunner } from "keelson";
import { createSqliteEventLog } from "keelson/state";
import { clerk } from "./clerk.ts";

const log = createSqliteEventLog("sessions.db");
const runner = createRunner({ agent: clerk, log, orchestrator: createRestateOrchestrator({ ingress }) });
await serveRestate(runner, { port: 9080 }); // then: restate deployments register http://localhost:9080
// #endregion
