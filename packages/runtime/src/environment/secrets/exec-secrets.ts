import { homedir } from "node:os";
import { checkOptionNames } from "../../json/option-names.ts";
import { createProcessExecutor } from "../execution/process-executor.ts";
import { secretFailed } from "./secret-failure.ts";
import type { SecretSource } from "./secret-source.ts";

/** A program that writes a secret to its standard output. */
export interface SecretProgram {
  readonly program: string;
  /** Where `{}` stands in an argument, the name of the secret is put. */
  readonly args: readonly string[];
  /** Inherited variables that it needs although they look like secrets, as in `["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]`. */
  readonly passSecrets?: readonly string[] | undefined;
  /** How long a value may be used again. Default: the resolver's `cacheMs`. */
  readonly ttlMs?: number | undefined;
}

export interface ExecSecretsOptions {
  /** By the word that follows `exec:`. A reference chooses among these and names a secret; it can neither name a program nor add an argument. */
  readonly programs: { readonly [name: string]: SecretProgram };
  /** Where they run. Default: the home folder. */
  readonly cwd?: string | undefined;
}

/** Never the beginning of an option, and nothing that a shell inside of the program could take for more than a name. */
const SECRET_NAME = /^[\w./@:+=][\w./@:+= -]*$/;

/** `exec:program/name`: what one of the given programs writes, without the line break at its end. No shell is between. */
export function createExecSecrets(options: ExecSecretsOptions): SecretSource {
  checkOptionNames("createExecSecrets", options, { programs: true, cwd: true });
  const { programs, cwd = homedir() } = options;
  return {
    scheme: "exec",
    async read(name, { signal, maxBytes }) {
      const reference = `exec:${name}`;
      const slash = name.indexOf("/");
      const [word, secret] = slash < 0 ? [name, ""] : [name.slice(0, slash), name.slice(slash + 1)];
      const known = Object.hasOwn(programs, word) ? programs[word] : undefined;
      if (known === undefined)
        throw secretFailed(reference, `asks for a program that was not given. There are: ${Object.keys(programs).join(", ")}.`);
      if (secret !== "" && !SECRET_NAME.test(secret))
        throw secretFailed(reference, "has a name that no program is given: it begins with - or has unusual characters.");
      const takesName = known.args.some((argument) => argument.includes("{}"));
      if (takesName !== (secret !== ""))
        throw secretFailed(
          reference,
          takesName ? `names no secret: write exec:${word}/name.` : `names a secret, and the program ${word} takes none.`,
        );
      const executor = createProcessExecutor({ cwd, passSecrets: known.passSecrets ?? [], maxOutputBytes: 2 * maxBytes });
      const { exitCode, stdout, stdoutBytes } = await executor.execute({
        program: known.program,
        args: known.args.map((argument) => argument.replaceAll("{}", () => secret)),
        signal,
      });
      // What it wrote may hold the secret, an error included: none of it is repeated.
      if (exitCode !== 0)
        throw secretFailed(
          reference,
          `could not be read: ${known.program} ended with ${exitCode ?? "a signal"}. Run it by hand to see why.`,
        );
      if (stdoutBytes > maxBytes) throw secretFailed(reference, `is longer than ${maxBytes} bytes: raise maxBytes, if it is meant to be.`);
      const value = stdout.replace(/\r?\n$/, "");
      return value === "" ? undefined : { value, ...(known.ttlMs !== undefined && { ttlMs: known.ttlMs }) };
    },
  };
}
