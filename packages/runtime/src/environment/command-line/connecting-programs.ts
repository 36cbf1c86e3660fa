import { isIP } from "node:net";
import type { ProgramFacts } from "./program-facts.ts";
import type { ShellWord } from "./shell-word.ts";

/** Programs whose operands are hosts, with or without a protocol before them, and their options with a value. */
const CONNECTING: { readonly [name: string]: RegExp } = {
  curl: /^(?:-[a-zA-Z#]*[oHdXTuAebcFEKmwxyYzCQrtPUD]|--(?:output|header|data(?:-\w+)?|json|request|upload-file|user|user-agent|referer|cookie|cookie-jar|form|cert|key|cacert|max-time|connect-timeout|retry|retry-delay|write-out|range|output-dir|url-query))$/,
  wget: /^(?:-[a-zA-Z]*[oOaPtTwQUADRIX]|--(?:output-document|output-file|directory-prefix|tries|timeout|wait|header|user-agent|post-data|accept|reject))$/,
  nc: /^-[a-z]*[iopqswxXIOT]$/,
  ncat: /^-[a-z]*[iopqswx]$/,
  netcat: /^-[a-z]*[iopqsw]$/,
  http: /^(?:-[a-z]*[opsa]|--(?:output|print|auth|session|verify))$/,
  https: /^(?:-[a-z]*[opsa]|--(?:output|print|auth|session|verify))$/,
  ping: /^-[a-zA-Z]*[ciIlMmpQsStTwW]$/,
};
const HOST = /^(?:[a-z][\w+.-]*:\/\/)?(?:[^/@\s]*@)?(\[[\da-f:]+\]|[\w-]+(?:\.[\w-]+)+|localhost)(?=[:/?#]|$)/i;
const OTHER_PROTOCOL = /^(?:file|data):/i;

/** The hosts of programs that connect to their operands; what they can't be told from is said. */
export function connecting(name: string, args: readonly ShellWord[]): Pick<ProgramFacts, "hosts" | "unknown"> {
  const values = Object.hasOwn(CONNECTING, name) ? CONNECTING[name] : undefined;
  if (values === undefined) return {};
  const operands = args.filter(({ text, literal }, index) => {
    if (literal && text.startsWith("-")) return false;
    const before = args[index - 1];
    return before === undefined || !before.literal || !values.test(before.text);
  });
  const hosts = operands.flatMap(({ text }) => HOST.exec(text)?.[1] ?? (isIP(text) === 0 ? [] : [text]));
  const isUnclear = operands.some(({ literal, globs, text }) => !OTHER_PROTOCOL.test(text) && ((!literal && !HOST.test(text)) || globs));
  return { ...(hosts.length > 0 && { hosts }), ...(isUnclear && { unknown: `Which host ${name} connects to can't be read.` }) };
}
