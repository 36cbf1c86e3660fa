import { copyFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { installStaged } from "./install-staged.ts";
import { root, runCommand } from "./run-command.ts";

/**
 * Compiles, one by one, what libraries built on Keelson export, with declarations, where nothing but `keelson` can be imported: every
 * type of theirs needs a name there. @returns the programs, with what the compiler says of them
 */
export async function checkConsumer(): Promise<readonly { readonly program: string; readonly problem: string | undefined }[]> {
  const programs = join(root, "tools", "consumer");
  await using installation = await installStaged(["zod", "@types/node", "undici-types"], { isolated: ["keelson"] });
  const checked = [];
  for (const program of (await readdir(programs)).filter((name) => name.endsWith(".ts"))) {
    await copyFile(join(programs, program), join(installation.folder, program));
    const compilerOptions = {
      target: "es2024",
      lib: ["es2024", "esnext.disposable"],
      module: "nodenext",
      strict: true,
      skipLibCheck: true,
      types: ["node"],
      declaration: true,
      outDir: "out",
    };
    await writeFile(join(installation.folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: [program] }));
    const { code, output } = await runCommand(process.execPath, [join(root, "node_modules", "typescript", "bin", "tsc"), "-p", "."], {
      cwd: installation.folder,
    });
    checked.push({ program, problem: code === 0 ? undefined : output });
  }
  return checked;
}
