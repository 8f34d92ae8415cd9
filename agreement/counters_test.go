package agreement

import (
	"encoding/json"

	"mage/gpu/simt"
)

// writeCounters writes the simulator's counters by case, one line each, sorted.
func writeCounters(all map[string]simt.Counters) []byte {
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		panic(err) // integers and names always can be written
	}
	return append(text, '\n')
}

func readCounters(text []byte) (map[string]simt.Counters, error) {
	var all map[string]simt.Counters
	return all, json.Unmarshal(text, &all)
}
