/** Characters of a target URL at most, as it was sent and as it is stored. */
export const targetLengthMax = 2_048
