import { demo } from "./demo/demo.ts";

process.exitCode = await demo({
  environment: process.env,
  cwd: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  signals: process,
  command: "npm run -s keelson --",
  version: "demo",
  now: Date.now,
  exit: (code) => process.exit(code),
});
