/** The part "values": the built-ins that compare, print and encode values. */

import { values } from "../std-values";

export default () => values;
