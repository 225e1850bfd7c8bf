// The long tests draw more cases of the same contract.
import "./contract.test.ts";
