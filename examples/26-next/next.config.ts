// Next loads these packages once for all that it bundles. Else `instrumentation.ts` and the route would each have copies of
// them, and the classes and machines of one would be unknown to the other.
export default { serverExternalPackages: ["@colloquy/runtime-node", "@colloquy/server"] };
