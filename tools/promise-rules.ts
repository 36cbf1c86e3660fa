// The rules about promises, for which the types must be known.
import ts from "typescript";
import { isTest, type Offence } from "./offence.ts";

/** Finds promises that nobody waits for: their failures are lost, and a test with one proves nothing. `void promise` says that this is meant. */
export function floatingPromisesIn(source: ts.SourceFile, file: string, checker: ts.TypeChecker): readonly Offence[] {
  const offences: Offence[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isExpressionStatement(node) && mayFloat(node.expression)) {
      const type = checker.getTypeAtLocation(node.expression);
      if (mayBePromise(type, node, checker)) {
        offences.push({
          rule: "floating-promise",
          file,
          line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1,
          message: `nobody waits for \`${node.expression.getText(source).split("\n")[0]}\`: await it, or write \`void\` before it and say who handles its failure`,
        });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return offences;
}

/**
 * Finds functions that are asynchronous only now and then, and values that are promises only now and then: whoever reads such code has
 * two orders of events in mind. Only what users write may give either (a callback, a method of theirs), so the exported types of such
 * functions may say so; whoever calls them awaits what they give.
 */
export function sometimesPromisesIn(source: ts.SourceFile, file: string, checker: ts.TypeChecker): readonly Offence[] {
  if (!/^packages\/[^/]+\/src\//.test(file) || isTest(file)) return [];
  const offences: Offence[] = [];
  const report = (node: ts.Node, message: string): void => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    if (!offences.some((offence) => offence.line === line)) offences.push({ rule: "sometimes-promise", file, line, message });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && "body" in node && node.body !== undefined) {
      const signature = checker.getSignatureFromDeclaration(node);
      if (signature !== undefined && isSometimesPromise(checker.getReturnTypeOfSignature(signature), node, checker))
        report(node, "this function gives a promise only now and then: make it async, or let it never wait");
    }
    const holdsValue = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node) || (ts.isParameter(node) && hasBody(node.parent));
    if (holdsValue && isSometimesPromise(checker.getTypeAtLocation(node), node, checker))
      report(node, `\`${node.name.getText(source)}\` is a promise only now and then: await it where it comes from`);
    if ((ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) && !isExported(node)) {
      const union = sometimesPromiseWrittenIn(node);
      if (union !== undefined)
        report(
          union,
          "only an exported type, of what users write, may say that a promise comes now and then: say `Promise` or leave it out",
        );
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return offences;
}

/**
 * Finds asynchronous functions that return a promise from where something is held (`using`, `finally`) or caught: what is held is given back
 * before the promise is done, and its failure is caught by nobody. `return await` waits.
 */
export function earlyReturnsIn(source: ts.SourceFile, file: string, checker: ts.TypeChecker): readonly Offence[] {
  const offences: Offence[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node) && node.expression !== undefined && !ts.isAwaitExpression(node.expression)) {
      const held = whatHolds(node);
      if (held !== undefined && mayBePromise(checker.getTypeAtLocation(node.expression), node, checker))
        offences.push({
          rule: "early-return",
          file,
          line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1,
          message: `the promise is returned ${held}: write \`return await\``,
        });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return offences;
}

/** What an asynchronous function does with a returned promise before that is done; nothing in other functions. */
function whatHolds(statement: ts.Node): string | undefined {
  let held: string | undefined;
  for (let node = statement; ; node = node.parent) {
    const { parent } = node;
    if (ts.isFunctionLike(node)) return isAsync(node) ? held : undefined;
    if (parent === undefined) return undefined;
    if (ts.isBlock(parent) && parent.statements.some((other) => other.end <= node.pos && isUsing(other)))
      held ??= "and what is held by `using` is given back before it is done";
    if (ts.isTryStatement(parent) && node !== parent.finallyBlock) {
      if (parent.finallyBlock !== undefined) held ??= "and `finally` runs before it is done";
      else if (node === parent.tryBlock) held ??= "and `catch` does not see its failure";
    }
  }
}

function isAsync(node: ts.SignatureDeclaration): boolean {
  return ts.canHaveModifiers(node) && ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword) === true;
}

function isUsing(node: ts.Node): boolean {
  return ts.isVariableStatement(node) && (node.declarationList.flags & ts.NodeFlags.Using) !== 0;
}

function mayBePromise(type: ts.Type, at: ts.Node, checker: ts.TypeChecker): boolean {
  return (type.isUnion() ? type.types : [type]).some((member) => isThenable(member, at, checker));
}

/** A union of promises with something else. One of promises with nothing (`Promise<T> | undefined`) says that there may be none to wait for. */
function isSometimesPromise(type: ts.Type, at: ts.Node, checker: ts.TypeChecker): boolean {
  if (!type.isUnion()) return false;
  const present = type.types.filter(({ flags }) => (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Null)) === 0);
  const promises = present.filter((member) => isThenable(member, at, checker)).length;
  return promises > 0 && promises < present.length;
}

function sometimesPromiseWrittenIn(node: ts.Node): ts.Node | undefined {
  if (ts.isUnionTypeNode(node)) {
    const promises = node.types.filter((member) => /^Promise(Like)?</.test(member.getText())).length;
    const nothings = node.types.filter((member) => ["undefined", "null"].includes(member.getText())).length;
    if (promises > 0 && promises + nothings < node.types.length) return node;
  }
  return ts.forEachChild(node, sometimesPromiseWrittenIn);
}

function hasBody(node: ts.Node): boolean {
  return "body" in node && node.body !== undefined;
}

function isExported(node: ts.Declaration): boolean {
  return (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Export) !== 0;
}

/** Assignments, `await` and `void` dispose of the value; only these can drop it. */
function mayFloat(expression: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(expression)) return mayFloat(expression.expression);
  if (ts.isBinaryExpression(expression)) {
    const logical = [ts.SyntaxKind.AmpersandAmpersandToken, ts.SyntaxKind.BarBarToken, ts.SyntaxKind.QuestionQuestionToken];
    return logical.includes(expression.operatorToken.kind) && mayFloat(expression.right);
  }
  if (ts.isConditionalExpression(expression)) return mayFloat(expression.whenTrue) || mayFloat(expression.whenFalse);
  if (!ts.isCallExpression(expression)) return false;
  // `promise.catch(handle)` and `promise.then(use, handle)` have taken care of the failure.
  if (ts.isPropertyAccessExpression(expression.expression)) {
    const { text } = expression.expression.name;
    if ((text === "catch" && expression.arguments.length >= 1) || (text === "then" && expression.arguments.length >= 2)) return false;
    if (text === "finally") return mayFloat(expression.expression.expression);
  }
  return true;
}

function isThenable(type: ts.Type, at: ts.Node, checker: ts.TypeChecker): boolean {
  if ((type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0) return false;
  const then = type.getProperty("then");
  return then !== undefined && checker.getTypeOfSymbolAtLocation(then, at).getCallSignatures().length > 0;
}
