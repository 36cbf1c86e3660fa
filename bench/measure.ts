// One subject, one workload, one process: prints its figures as one line of JSON.
//   node --expose-gc bench/measure.ts <subject> <workload> <base url> <sizes as JSON>
import { findSubject } from "./subjects.ts";
import { type Sizes, WORKLOADS } from "./workloads.ts";

const [subjectName = "", workloadName = "", baseUrl = "", sizes = "{}"] = process.argv.slice(2);
const workload = WORKLOADS[workloadName];
if (workload === undefined) throw new Error(`There is no workload "${workloadName}"; there are ${Object.keys(WORKLOADS).join(", ")}.`);
const subject = await (await findSubject(subjectName))(baseUrl);
const figures = await workload(subject, JSON.parse(sizes) as Sizes, async () => (await findSubject("keelson"))(baseUrl));
await subject.close?.();
process.stdout.write(`${JSON.stringify(figures)}\n`);
// Kept connections would hold the process.
process.exit(0);
