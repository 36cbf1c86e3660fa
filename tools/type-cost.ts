// What our types cost the compiler of a user: instantiations for a program with one agent and one tool, against the built declarations.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { installStaged } from "./install-staged.ts";
import { root, runCommand } from "./run-command.ts";

/** 3,985 since the context that an agent needs follows from the types of its tools and children; 2,658 before. */
const budget = 4050;
const program = `
import { createAgent, createRunner, defineTool } from "keelson";
import { z } from "zod";

const readFile = defineTool({
  name: "read_file",
  description: "Read lines of a text file.",
  effect: "read",
  input: z.object({ path: z.string(), firstLine: z.number().default(1) }),
  async execute({ path, firstLine }, { signal }) {
    signal.throwIfAborted();
    return \`\${path.toUpperCase()}:\${firstLine.toFixed()}\`;
  },
});

const agent = createAgent({ name: "reader", model: "anthropic/claude-sonnet-4-5", instructions: "Read.", tools: [readFile] });
const run = createRunner({ agent }).run("What does the file say?");
for await (const event of run) if (event.type === "text-delta") console.log(event.text.length);
const { text, turns } = await run.outcome;
console.log(text.length, turns.toFixed());
`;

await using installation = await installStaged(["zod", "@types/node", "undici-types"]);
await writeFile(join(installation.folder, "program.ts"), program);
await writeFile(
  join(installation.folder, "tsconfig.json"),
  JSON.stringify({
    compilerOptions: {
      target: "es2024",
      lib: ["es2024", "esnext.disposable"],
      module: "nodenext",
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ["node"],
    },
    files: ["program.ts"],
  }),
);
const { code, output } = await runCommand(
  process.execPath,
  [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", ".", "--extendedDiagnostics"],
  { cwd: installation.folder },
);
const count = /^Instantiations:\s+(\d+)/m.exec(output)?.[1];
if (code !== 0 || count === undefined) {
  console.log(`The program does not compile against the built packages:\n${output}`);
  process.exitCode = 1;
} else {
  console.log(
    `one agent, one tool: ${count} instantiations (budget: under ${budget}), ${/^Types:\s+(\d+)/m.exec(output)?.[1]} types, ${/^Check time:\s+(\S+)/m.exec(output)?.[1]} to check`,
  );
  if (Number(count) >= budget) process.exitCode = 1;
}
