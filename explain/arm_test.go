package explain

import (
	"errors"
	"strings"
	"testing"

	"mage/contract"
)

func TestParseArm(t *testing.T) {
	k := loaded(t)
	a, err := ParseArm("cuda/vector:BLOCK=128", k)
	if err != nil || a.Family != "cuda/vector" || a.Values["BLOCK"] != 128 {
		t.Errorf("%+v, %v", a, err)
	}
	for text, want := range map[string]string{
		"cpu/naive":                    "no kernel has this name; the simulator runs device kernels: cuda/first, rust/first",
		"cuda/vector:BLOCK":            `"BLOCK" is not TUNABLE=NUMBER`,
		"cuda/vector:BLOCK=a":          "is not TUNABLE=NUMBER",
		"cuda/vector:BLOCK=1,BLOCK=2":  "BLOCK is given twice",
		"cuda/vector:":                 "is not TUNABLE=NUMBER",
		"cuda/vector:BLOCK=128,BLOCK=": "is not TUNABLE=NUMBER",
	} {
		_, err := ParseArm(text, k)
		if bad := (*ArmError)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), text+": ") {
			t.Errorf("%s: %v", text, err)
		}
	}
	gelu, err := contract.Find("gelu", contract.FP32)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"cuda/vector:BLOCK=127": "BLOCK = 127 is not one of its values",
		"cuda/vector:TILE=4":    `unknown tunable "TILE"`,
		"cuda/blocked":          "has no kernel for gelu in fp32",
	} {
		a, err := ParseArm(text, k)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := k.kernel(a, gelu); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
