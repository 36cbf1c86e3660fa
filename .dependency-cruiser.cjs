// Who may import whom. The layers are data (layers.json), bottom first: a folder of the runtime imports from itself and from rows before its own;
// siblings in one row stay apart. Tests may import anything, so they are left out.
const { rows, packages, libraries } = require("./layers.json");

const names = rows.flat();
/** A layer is a folder of the runtime; an `index` is a file: the face of the folder that it stands in, or the composition root at the top. */
const sources = (layers) =>
  `^packages/runtime/src/(${layers.map((layer) => (/(^|\/)index$/.test(layer) ? `${layer}\\.ts$` : `${layer}/`)).join("|")})`;
const packageSources = (folders) => `^packages/(${folders.join("|")})/`;
const libraryPaths = (list) => `node_modules/(${list.join("|")})/`;

const layersImportDownwardOnly = rows.flatMap((row, level) =>
  row
    .map((layer) => ({ layer, forbidden: [...row.filter((sibling) => sibling !== layer), ...rows.slice(level + 1).flat()] }))
    .filter(({ forbidden }) => forbidden.length > 0)
    .map(({ layer, forbidden }) => ({
      name: `${layer}-imports-downward-only`,
      comment: "What a lower row needs of a higher one, it knows as an interface of the protocol.",
      severity: "error",
      from: { path: sources([layer]) },
      to: { path: sources(forbidden) },
    })),
);

const packagesImportDownwardOnly = Object.entries(packages).map(([name, allowed]) => ({
  name: `package-${name}-imports-downward-only`,
  comment: "Packages below do not know those above; adapters do not know each other.",
  severity: "error",
  from: { path: packageSources([name]) },
  to: { path: packageSources(Object.keys(packages).filter((other) => other !== name && !allowed.includes(other))) },
}));

module.exports = {
  forbidden: [
    ...layersImportDownwardOnly,
    ...packagesImportDownwardOnly,
    {
      name: "every-folder-has-a-row",
      comment: "A folder of the runtime that layers.json does not name would be held by no rule.",
      severity: "error",
      from: { path: "^packages/runtime/src/", pathNot: sources(names) },
      to: {},
    },
    {
      name: "no-cycle",
      comment: "Files that need each other are one idea in two places, or two in one; also where only their types do.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "protocol-depends-on-nothing",
      comment: "Anyone can implement the protocol anywhere: no library, no Node built-in.",
      severity: "error",
      from: { path: packageSources(["protocol"]) },
      to: { dependencyTypes: ["npm", "npm-dev", "npm-optional", "npm-peer", "npm-no-pkg", "npm-unknown", "core"] },
    },
    {
      name: "libraries-load-on-first-use",
      comment: "Importing keelson must cost nothing that only some users need: `await import(...)` where it is used.",
      severity: "error",
      from: { path: "^packages/runtime/src/", pathNot: sources(Object.keys(libraries)) },
      to: { path: "node_modules/", dynamic: false, dependencyTypesNot: ["type-only"] },
    },
    ...Object.entries(libraries).map(([layer, list]) => ({
      name: `${layer}-imports-only-its-libraries`,
      comment: "The few libraries a layer may import at once stand in layers.json; users of that subpath install them.",
      severity: "error",
      from: { path: sources([layer]) },
      to: { path: "node_modules/", pathNot: libraryPaths(list), dynamic: false, dependencyTypesNot: ["type-only"] },
    })),
    {
      name: "index-leaves-testing-out",
      comment: "What only tests need is not loaded by programs.",
      severity: "error",
      from: { path: sources(["index"]) },
      to: { path: sources(["testing"]) },
    },
    {
      name: "no-unresolved",
      comment: "An import that leads nowhere escapes every rule above.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    exclude: { path: ["\\.test(-d)?\\.ts$", "^packages/[^/]+/(test|dist)/", "^packages/[^/]+/node_modules/"] },
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["source", "import", "node", "default"],
      extensions: [".ts", ".js", ".mjs", ".json"],
    },
  },
};
