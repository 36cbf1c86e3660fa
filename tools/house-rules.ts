// The rules of this project that a general linter does not know. `npm run lint` runs them over all sources.
import { readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import ts from "typescript";
import { isTest, type Offence } from "./offence.ts";
import { earlyReturnsIn, floatingPromisesIn, sometimesPromisesIn } from "./promise-rules.ts";

const isLibrary = (file: string): boolean => /^packages\/(protocol|runtime)\/src\//.test(file) && !isTest(file);

type Report = (node: ts.Node, message: string) => void;

interface Rule {
  readonly name: string;
  readonly appliesTo: (file: string) => boolean;
  readonly check: (node: ts.Node, report: Report, file: string) => void;
}

const stepMethods = new Set(["step", "steps", "decide"]);
const combinators = new Set(["all", "allSettled", "any", "race"]);

/** `object.member`, and `globalThis.object.member`. */
function isMember(node: ts.Node, object: string, members: ReadonlySet<string>): boolean {
  if (!ts.isPropertyAccessExpression(node) || !members.has(node.name.text)) return false;
  const owner = node.expression;
  if (ts.isIdentifier(owner)) return owner.text === object;
  return ts.isPropertyAccessExpression(owner) && owner.name.text === object && owner.expression.getText() === "globalThis";
}

/** Does the code, functions written in it included, call a method of one of these names? */
function callsMethod(node: ts.Node, names: ReadonlySet<string>): boolean {
  if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression) && names.has(node.expression.name.text)) return true;
  return ts.forEachChild(node, (child) => callsMethod(child, names)) ?? false;
}

const ambientMembers: readonly (readonly [string, ReadonlySet<string>])[] = [
  ["Date", new Set(["now"])],
  ["performance", new Set(["now"])],
  ["Math", new Set(["random"])],
  ["crypto", new Set(["randomUUID", "getRandomValues", "randomUUIDv7"])],
];
const ambientFunctions = new Set([
  "setTimeout",
  "setInterval",
  "setImmediate",
  "randomUUID",
  "randomUUIDv7",
  "randomBytes",
  "randomInt",
  "randomFillSync",
]);

/** Is this identifier the thing itself, rather than a member, a key or a declaration that happens to have its name? */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isImportSpecifier(parent)) return true;
  if (ts.isTypeNode(parent) || ts.isTypeQueryNode(parent) || ts.isTypeElement(parent)) return false;
  return !(("name" in parent && parent.name === node) || (ts.isBindingElement(parent) && parent.propertyName === node));
}

const rules: readonly Rule[] = [
  {
    name: "parallel-steps",
    appliesTo: isLibrary,
    check(node, report) {
      if (!ts.isCallExpression(node) || !isMember(node.expression, "Promise", combinators)) return;
      if (node.arguments.some((argument) => callsMethod(argument, stepMethods))) {
        report(
          node,
          "steps started by hand may reach the log in another order when they are replayed: use context.steps([...]) or context.select(...)",
        );
      }
    },
  },
  {
    name: "clock-and-chance",
    appliesTo: isLibrary,
    check(node, report) {
      const ambient =
        ambientMembers.some(([object, members]) => isMember(node, object, members)) ||
        (ts.isNewExpression(node) &&
          ts.isIdentifier(node.expression) &&
          node.expression.text === "Date" &&
          (node.arguments?.length ?? 0) === 0) ||
        (ts.isIdentifier(node) && ambientFunctions.has(node.text) && isReference(node)) ||
        ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
          node.moduleSpecifier !== undefined &&
          ts.isStringLiteral(node.moduleSpecifier) &&
          node.moduleSpecifier.text === "node:timers/promises");
      if (ambient)
        report(
          node,
          `${node.getText().split("\n")[0]} makes a run differ from its replay: take time and chance as a parameter, or name this file with a reason in tools/house-rules.json`,
        );
    },
  },
  {
    name: "package-border",
    appliesTo: (file) => file.startsWith("packages/") && !isTest(file),
    check(node, report, file) {
      const specifier = importedModule(node);
      if (specifier?.startsWith(".") !== true) return;
      const home = file.split("/").slice(0, 2).join("/");
      if (!`${join(dirname(file), specifier)}/`.startsWith(`${home}/`))
        report(node, `${specifier} leaves ${home}: import the other package by its name, through what it exports`);
    },
  },
  {
    name: "exports-by-name",
    appliesTo: (file) => file.startsWith("packages/") && !isTest(file),
    check(node, report) {
      if (ts.isExportDeclaration(node) && node.exportClause === undefined)
        report(node, "`export *` publishes what nobody decided to publish: list the names");
    },
  },
  {
    name: "file-names",
    appliesTo: () => true,
    check(node, report, file) {
      if (ts.isSourceFile(node) && /^(utils?|helpers?|common|misc|manager)\./.test(basename(file)))
        report(node, "a file is named after the one idea it holds");
    },
  },
];

function importedModule(node: ts.Node): string | undefined {
  if (
    (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) &&
    node.moduleSpecifier !== undefined &&
    ts.isStringLiteral(node.moduleSpecifier)
  )
    return node.moduleSpecifier.text;
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    return argument !== undefined && ts.isStringLiteral(argument) ? argument.text : undefined;
  }
  return undefined;
}

/** Judges one file by its syntax. `file` is relative to the workspace. */
export function offencesIn(source: ts.SourceFile, file: string): readonly Offence[] {
  const offences: Offence[] = [];
  for (const rule of rules.filter(({ appliesTo }) => appliesTo(file))) {
    const report: Report = (node, message) => {
      const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
      const isKnown = offences.some((offence) => offence.rule === rule.name && offence.line === line);
      if (!isKnown) offences.push({ rule: rule.name, file, line, message });
    };
    const visit = (node: ts.Node): void => {
      rule.check(node, report, file);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return offences;
}

/** What may break a rule, each with the reason: rule, then file (or folder, with a slash at its end), then reason. */
export type Exceptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Judges every file of the TypeScript projects given, which are relative to `root`. */
export function judgeProjects(root: string, projects: readonly string[], exceptions: Exceptions): readonly Offence[] {
  const judged = new Set<string>();
  const offences: Offence[] = [];
  const used = new Set<string>();
  for (const project of projects) {
    const host: ts.ParseConfigFileHost = {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: (diagnostic) => {
        throw new Error(ts.flattenDiagnosticMessageText(diagnostic.messageText, "\n"));
      },
    };
    const config = ts.getParsedCommandLineOfConfigFile(join(root, project), undefined, host);
    if (config === undefined) throw new Error(`${project} cannot be read`);
    const program = ts.createProgram(config.fileNames, config.options);
    const checker = program.getTypeChecker();
    for (const path of config.fileNames) {
      const file = relative(root, path);
      const source = program.getSourceFile(path);
      if (source === undefined || judged.has(file) || file.endsWith(".d.ts")) continue;
      judged.add(file);
      const found = [
        ...offencesIn(source, file),
        ...floatingPromisesIn(source, file, checker),
        ...sometimesPromisesIn(source, file, checker),
        ...earlyReturnsIn(source, file, checker),
      ];
      for (const offence of found) {
        const excepted = Object.keys(exceptions[offence.rule] ?? {}).find(
          (path) => path === file || (path.endsWith("/") && file.startsWith(path)),
        );
        if (excepted === undefined) offences.push(offence);
        else used.add(`${offence.rule} ${excepted}`);
      }
    }
  }
  for (const [rule, files] of Object.entries(exceptions)) {
    for (const file of Object.keys(files)) {
      if (!used.has(`${rule} ${file}`))
        offences.push({ rule, file, line: 1, message: "needs no exception any more: take it out of tools/house-rules.json" });
    }
  }
  return offences;
}

if (import.meta.main) {
  const { root } = await import("./run-command.ts");
  const { typescriptProjects } = await import("./typescript-projects.ts");
  const exceptions = JSON.parse(readFileSync(join(root, "tools", "house-rules.json"), "utf8")) as Exceptions;
  const offences = judgeProjects(root, typescriptProjects(), exceptions);
  for (const { rule, file, line, message } of offences) console.log(`${file}:${line} ${rule}: ${message}`);
  if (offences.length > 0) {
    console.log(`${offences.length} offences against the rules of the house`);
    process.exitCode = 1;
  }
  const { judgeWords } = await import("./word-ratchet.ts");
  for (const line of await judgeWords()) {
    console.log(line);
    process.exitCode = 1;
  }
}
