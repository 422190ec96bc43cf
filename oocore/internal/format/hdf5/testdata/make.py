"""Writes HDF5 files of every layout by h5py, and what h5py reads of them: make.py FOLDER SEED FILES."""
import h5py, numpy as np, sys, os, json
out=sys.argv[1]; seed=int(sys.argv[2]); n=int(sys.argv[3])
r=np.random.default_rng(seed)
cases=[]
types=['u1','i1','u2','<i2','>i2','<i4','>i4','<u4','<i8','>u8','<f2','>f2','<f4','>f4','<f8','>f8','<c8','<c16','?']
for k in range(n):
    lib=[('earliest','v108'),('v108','v108'),('latest','latest'),('v110','v110'),('earliest','latest')][r.integers(5)]
    ub=int(r.choice([0,0,512,1024]))
    p=f'{out}/{k}.h5'
    with h5py.File(p,'w',libver=lib,userblock_size=ub) as f:
        groups=['']
        for g in range(r.integers(0,4)):
            groups.append(groups[r.integers(len(groups))]+f'/g{g}'); f.create_group(groups[-1])
        many=r.integers(0,6)==0
        if many:
            for i in range(100): f.create_group(groups[-1]+f'/many{i}')
        for j in range(r.integers(1,5)):
            g=groups[r.integers(len(groups))]
            nd=int(r.integers(0,5)); shape=tuple(int(x) for x in r.integers(1,[1,60,30,12,8][nd] if nd else 2,size=nd))
            t=np.dtype(types[r.integers(len(types))])
            raw=r.integers(0,5,size=shape)
            a=np.asarray(raw>2 if t.kind=='b' else (raw+1j*r.random(shape) if t.kind=='c' else (r.standard_normal(shape) if t.kind=='f' and r.integers(2) else raw))).astype(t)
            kw={}
            kind=r.integers(4)
            if nd and kind>0:
                kw['chunks']=tuple(int(r.integers(1,s+1)) for s in shape)
                m=r.integers(4)
                if m==1: kw['maxshape']=(None,)+shape[1:]
                elif m==2: kw['maxshape']=tuple(None if r.integers(2) else s+int(r.integers(0,9)) for s in shape)
                elif m==3: kw['maxshape']=tuple(s+int(r.integers(0,9)) for s in shape)
                c=r.integers(5)
                if c==1: kw['compression']='gzip'; kw['compression_opts']=int(r.integers(1,9))
                elif c==2: kw['compression']='lzf'
                elif c==3 and (t.kind in 'iu' or t.kind=='f' and t.itemsize>2): kw['scaleoffset']=int(r.integers(0,4)) if t.kind=='f' else 0
                if r.integers(2): kw['shuffle']=True
                if r.integers(3)==0 and 'scaleoffset' not in kw: kw['fletcher32']=True
            if r.integers(3)==0 and t.kind in 'iuf': kw['fillvalue']=7
            name=f'{g}/d{j}'
            if kind==3 and nd:
                d=f.create_dataset(name,shape=shape,dtype=t,**kw)
                # partly written
                sl=tuple(slice(0,int(r.integers(0,s+1))) for s in shape)
                d[sl]=a[sl]
            elif kind==0 and r.integers(3)==0 and a.nbytes<60000:
                dcpl=h5py.h5p.create(h5py.h5p.DATASET_CREATE); dcpl.set_layout(h5py.h5d.COMPACT)
                sp=h5py.h5s.create_simple(shape) if nd else h5py.h5s.create(h5py.h5s.SCALAR)
                lcpl=h5py.h5p.create(h5py.h5p.LINK_CREATE); lcpl.set_create_intermediate_group(True)
                did=h5py.h5d.create(f.id,name.encode(),h5py.h5t.py_create(t,logical=True),sp,dcpl,lcpl)
                d=h5py.Dataset(did); d[...]=a
            else:
                d=f.create_dataset(name,data=a,**kw)
            d.attrs['units']='m'; d.attrs['scale']=2.5; d.attrs['list']=[1,2,3]
            if r.integers(8)==0:
                for i in range(30): d.attrs[f'a{i}']='x'*100
    with h5py.File(p,'r') as f:
        names=[]
        f.visititems(lambda nme,o: names.append(nme) if isinstance(o,h5py.Dataset) else None)
        for i,nme in enumerate(names):
            v=np.asarray(f[nme][()]); v=v.astype(v.dtype.newbyteorder('='))
            np.save(f'{out}/{k}.{i}.npy',np.ascontiguousarray(v).reshape(v.shape))
            cases.append(dict(path=f'{k}.h5#{nme}',want=f'{k}.{i}.npy'))
json.dump(cases,open(f'{out}/cases.json','w'))
