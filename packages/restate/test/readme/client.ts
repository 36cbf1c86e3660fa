const [ingress = ""] = process.argv.slice(2);

// #region client
import { operatorInput } from "keelson/orchestration";
import { createRestateOrchestrator } from "@keelson/restate";

const orchestrator = createRestateOrchestrator({ ingress });
const id = await orchestrator.start("clerk", operatorInput("Where is order 7?", "user"));
const output = await orchestrator.attach(id); // from this process or any other, now or in a week
// #endregion
console.log(JSON.stringify(output.message));
