import { describeEngine } from "keelson/testing/contracts";
import { memoryEngine } from "./memory-engine.ts";

describeEngine("advance in memory, with children inside of their parents' turns,", memoryEngine(false));
describeEngine("advance in memory, with children apart from their parents,", memoryEngine(true));
