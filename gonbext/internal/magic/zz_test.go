package magic

import (
	"fmt"
	"testing"
)

func TestZZ(t *testing.T) {
	s := NewSession()
	s.ReadAPI("../../..")
	s.kept["b"] = meaning{kind: 0, typ: arrayType}
	s.kept["c"] = meaning{typ: arrayType}
	s.kept["mask"] = meaning{typ: arrayType}
	s.kept["i"] = meaning{}
	for _, code := range []string{
		"for i in range(3):\n    print(i)", "for x in xs:\n  print(x)\n", "if a:\n  b = 3\nelif c:\n  b = 4\nelse:\n  b = 5", "def f(x):\n    return x+1\n\nprint(f(3))",
		"b[:, 0]", "import numpy as np", "from x import y", "f = lambda x: x*2", "x = 'hello'", "s = f\"{x:.2f} and {b}\"", "# comment\nx := 3", "with open('f.txt') as f:\n  data = f.read()",
		"try:\n  x = 1\nexcept ValueError:\n  pass", "x = 3 if b else 4", "xs = [x*2 for x in ys]", "d = {'a': 1, 'b': 2}", "x = [1, 2, 3]\nprint(x[-1])", "a and not b", "print 'x'",
		"total = 0\nfor i in range(10):\n    if i % 2 == 0:\n        total += i\nprint(total)", "import numpy as np\nx = np.array([[1,2],[3,4]])\ny = x + 1\nprint(y.mean(axis=0))",
		"x := []float64{1,2}\nfor i in x:\n  fmt.Println(i)", "fmt.Println(3", "while True:\n   x += 1", "class A:\n  def f(self): pass", "ds = xr.open_dataset('x.nc')\nt = ds['temp'].mean('time')", "assert b, 'x'", "b[..., 0]", "b[0:10, ::2]",
		"'''doc'''\nx = 3", "lambda x: x", "y = not x", "x is None", "if x in xs:\n  print('y')", "a = b = 3", "@decorator\ndef f(): pass", "for i, x in enumerate(xs): print(i, x)",
	} {
		_, err := s.Rewrite(code)
		fmt.Printf("── %s\n%v\n", code, err)
		zz, _ := s.python(code, "")
		for _, l := range zz {
			if l.changed != nil {
				fmt.Printf("   [%s]\n", l.text)
			}
		}
	}
	for _, code := range []string{"b+1", "b*2 + c", "2*b", "1-b", "b-c", "-b", "b > 0", "b == c", "(b > 0) & (c < 1)", "b[0]", "b[1:3]", "b[b > 0]", "b[0, 1]", "b[i]", "b[i:i+2, 0]", "b.shape", "b.T", "b.dtype", "len(b)", "np.sin(b)", "np.zeros((3, 4))", "np.zeros(3)", "np.load(\"x.npy\")", "x = 3", "b ** 2", "2 ** 3", "print(b)", "plt.plot(b)", "plt.imshow(b, cmap=3)", "help(b)", "type(b)", "True", "y := np.sqrt(2.0)", "np.mean(b, 0)", "b.mean()", "b.mean(0).std()", "b.astype(np.float32)", "b.astype(\"float32\")", "b.reshape((3, 3))", "np.linalg.svd(b)", "np.fft.fft(b)", "da.from_array(b)", "z := gonbext.Collect[float64](b + 1)", "fmt.Println(b + 1, len(b.shape))", "for i := range 3 { fmt.Println(b + i) }", "np.foo(b)", "y = (b - b.mean(0)) / b.std(0)", "np.random.rand(3, 4)", "x := []float64{1, 2}[0] + b", "np.where(b > 0, b, 0)", "b.sum(axis=1)", "b[0] = 3", "b.sum().compute()"} {
		zz, _ := s.python(code, "")
		for _, l := range zz {
			f := "–"
			if l.changed != nil {
				f = l.says()
			}
			fmt.Printf("%-30s %s\n", code, f)
		}
	}
}
