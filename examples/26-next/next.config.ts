// Next loads these packages once for all its bundles. Else `instrumentation.ts` and the route would each have a copy,
// and neither would recognise the other's classes and machines.
export default { serverExternalPackages: ["@colloquy/runtime-node", "@colloquy/server"] };
