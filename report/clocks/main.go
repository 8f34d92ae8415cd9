package main

import (
	"flag"
	"fmt"
	"os"

	"mage/evidence"
)

func main() {
	arm := flag.String("arm", "cuda/first@driver", "the arm whose kernel is read")
	flag.Parse()
	if err := print(*arm, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "clocks:", err)
		os.Exit(1)
	}
}

func print(arm string, dirs []string) error {
	if len(dirs) == 0 {
		return fmt.Errorf("name the directories of one session's records")
	}
	found, err := load(arm, dirs)
	if err != nil {
		return err
	}
	fmt.Print(table(found))
	for _, r := range found {
		if err := r.judge(); err != nil {
			return err
		}
	}
	return nil
}

func load(arm string, dirs []string) ([]row, error) {
	var runs []*evidence.Run
	for _, dir := range dirs {
		run, err := evidence.Load(dir)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	found := rows(runs, arm)
	if len(found) == 0 {
		return nil, fmt.Errorf("no record has samples of %s", arm)
	}
	return found, nil
}
