/** The grammars of the library, which has no types for them that need no browser. */
declare module "highlight.js/lib/languages/*" {
  const define: (library: object) => object;
  export default define;
}
